package custom

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/synth"
	"aiperf/internal/dataset/trace"
	"aiperf/internal/dataset/weka"
	"aiperf/internal/rng"
	"aiperf/internal/setting"
	"aiperf/internal/suggest"
)

// Options say how a file is read.
type Options struct {
	Spell setting.Spell `json:"-"` // words the settings that errors speak of
	Root  *rng.Root
	Type  string // format named by the user, "" = recognised from the content
	// InputColumn is the key or the column of the prompts; "" = the first that is there of text, prompt and other usual names.
	InputColumn string
	Records     []Pool // rows in place of a file; nil = there is a file
	// PayloadRows: rows of a mooncake file are those of GenAI-Perf's payload files.
	PayloadRows bool
	Assignment  dataset.Assignment
	Entries     int // conversations that are drawn from a pool, 0 = 100; other formats have as many as they hold
	// Batches is how many contents of a kind a turn drawn from a pool takes; a kind that is not there: those of one row.
	Batches    map[conversation.Kind]int
	Early      bool     // conversations are used in the order in which they stand: a large file need not be read before the first
	Scheduled  bool     // they leave at their own times
	Together   int      // as many begin at once: so many are read before the first, where rows are read while they are used
	DelayRatio float64  // multiplies delays
	DelayCap   *float64 // ms, no delay is longer before it is scaled; nil = no limit
	Limits     trace.Limits
	Synthesis  *trace.Synthesis // rescales recorded traffic; nil = as it was
	// HoistSystem: the endpoint sends system messages, so a leading system turn becomes one.
	HoistSystem bool
	// StripKnown sends an image again by its id alone.
	StripKnown bool
	// Fetch downloads images that the file names by their addresses and hands them over one by one; nil = the addresses are sent.
	Fetch   func(addresses []string, got func(i int, d Download))
	Context synth.Context // text around the conversations; a prefix pool is for generated data only

	Agents     weka.Options // what becomes of recorded agents; limits and models are those of the other settings
	Join       weka.Join    // how agents are found that others started, where the recording does not say
	MaxContext int          // traces of agents with a longer prompt and answer are left out, tokens; 0 = none
	Columnar   Columnar     // what becomes of traces of columns

	// Corpus opens the text that prompts of a given length are cut from, by name where nobody chose one ("" = the standard one). It is called
	// only if the file needs it.
	Corpus    func(standard string) (*synth.Corpus, error)
	BlockSize int // tokens of a block of hash ids, 0 = the format's own
	// Reading is told now and then how many rows were read, while nothing can be sent yet; nil = nobody asked.
	Reading func(rows int) `json:"-"`
	// Marker is what is put into a system message, and into the first text of a session, when it is sent, in tokens: texts that are made of a length are
	// that much shorter; nil = nothing.
	Marker func() (system, text int) `json:"-"`
	// Separator is the first token of a block, nil = none. It is asked for after the corpus was opened; nil = no format has one.
	Separator func() *int32

	folder bool // a folder is read
	strict bool // keys of rows that are not known are faults
}

// Dataset is a dataset read from a file.
type Dataset struct {
	conversations []conversation.Conversation
	source        source                                    // has the conversations in their place; nil = they are in memory
	system        string                                    // before every conversation, "" = nothing
	fill          func(i int, c *conversation.Conversation) // makes the texts that are not literal; nil = none
	lay           func(i int, c *conversation.Conversation) // reads what was left in the file; nil = nothing was
	info          dataset.Info
	root          *rng.Root
	prompts       *synth.Sequence
}

var _ dataset.Dataset = (*Dataset)(nil)

// source has conversations that do not lie in memory, as they are before texts are made.
type source interface {
	drawn() int
	id(i int) string
	timings(i int) []dataset.Timing
	draft(i int) conversation.Conversation
}

// loader is a file on its way to be a Dataset.
type loader struct {
	Options
	set     *Dataset
	faults  dataset.Faults
	ids     int       // session ids given out
	rowNo   int       // rows read
	unknown string    // warning of the first keys that are ignored
	hash    hash.Hash // of the bytes of a trace, once its rows are read
	// namespace is that of the hash ids of the file, where it was found before its rows are read.
	namespace string
	media     *library
	traffic   *Traffic // takes what was read, and nothing is made of it; nil = conversations are made
	// labelled: some content bears a name that its row gives.
	labelled bool
	others   map[string]bool                 // categories of rows that are left out
	sink     func(conversation.Conversation) // takes conversations that are not kept; nil = they are
	sunk     int                             // that it took
	raised   int                             // output lengths that were raised to 1
	raisedAt string                          // the first of them
	corpus   string                          // name of the text that prompts are cut from, "" = the standard one
}

func newLoader(o Options, info dataset.Info) *loader {
	return &loader{Options: o, set: &Dataset{root: o.Root, info: info}, media: newLibrary()}
}

// Open reads the file. Its error has a line for each of the first ten faults.
func Open(path string, o Options) (dataset.Dataset, error) {
	name := o.Type
	if o.Records != nil {
		path = inlinePool
		if name == "" {
			name = "single_turn"
		}
	}
	if name == "" {
		var err error
		if name, err = detect(path, o.InputColumn); err != nil {
			return nil, worded(err, o.Spell)
		}
	}
	format, ok := Find(name)
	if !ok {
		return nil, CheckType(name)
	}
	o.folder = o.Records == nil && isFolder(path)
	if err := o.suit(path, format); err != nil {
		return nil, err
	}
	info := dataset.Info{Type: format.Name, Stated: o.Type != "", Trace: format.Trace, Verbatim: format.verbatim, Mode: format.mode}
	if files, ok := o.indexable(path, format); ok {
		x, err := openIndexed(path, files, o, info, format)
		if err != nil {
			return nil, err
		}
		return x, nil
	}
	if format.grow != nil && o.Records == nil && o.agentsGrow(path) {
		return format.grow(path, o, info, format.corpus)
	}
	d, err := Collect(path, o, info, func(l *loader) error {
		l.corpus = format.corpus
		if stat, err := os.Stat(path); format.Trace && err == nil && stat.Mode().IsRegular() && stat.Size() > overlooked {
			over, err := overlook(path, nil)
			if err != nil {
				return err
			}
			l.namespace = over.namespace
		}
		return format.read(l, path)
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// suit tells whether the options and the path suit a format.
func (o Options) suit(path string, format Format) error {
	switch {
	case o.Records != nil:
		if err := inlinable(format, o.Records, o.Spell); err != nil {
			return err
		}
	case o.folder && !format.Folder:
		return fmt.Errorf("%s %w", o.Spell.As("datasets.main.path"), notFolder(path, format.Name))
	}
	if o.InputColumn != "" && !format.Column {
		return columnless(path, format, o.Spell)
	}
	if o.StripKnown && format.Name == "multi_turn" {
		return fmt.Errorf("%s: %s is multi_turn, whose turns repeat the history; give single_turn rows of one session_id", o.Spell.As("endpoint.uuid_and_strip"), path)
	}
	switch {
	case o.Synthesis == nil:
	case !format.Trace:
		return fmt.Errorf("%s: %s is %s; synthesis is for recorded traffic", o.Spell.As("datasets.main.synthesis"), path, format.Name)
	case format.Unscaled && o.Synthesis.Changes():
		return fmt.Errorf("%s: %w", path, o.Rescaled())
	}
	return nil
}

func (l *loader) nothingLeft(path string) error {
	f := l.set.info
	switch {
	case l.others != nil:
		return dataset.Nothing("%s: no row is of category %s; there are %s", path, speedBenchCategory(l.Type), sortedKeys(l.others))
	case f.OutsideWindow > 0:
		return dataset.Nothing("%s: no row is left: %d outside the window (%s), %d with an input above %s", path, f.OutsideWindow, l.Limits.Window(l.Spell), f.TooLong,
			l.Spell.As("datasets.main.synthesis.max_isl"))
	case f.TooLong > 0:
		return dataset.Nothing("%s: no row is left: %d with an input above %s %d", path, f.TooLong, l.Spell.As("datasets.main.synthesis.max_isl"), l.Limits.MaxISL)
	}
	if len(f.Warnings) > 0 { // they say what became of the rows
		said := make([]string, len(f.Warnings))
		for i, w := range f.Warnings {
			said[i] = strings.TrimPrefix(w, path+": ")
		}
		return fmt.Errorf("%s: no record is left: %s", path, strings.Join(said, "; "))
	}
	return fmt.Errorf("%s: no records", path)
}

// put takes a conversation as it is.
func (l *loader) put(c conversation.Conversation) {
	if l.sink != nil {
		l.sunk++
		l.sink(c)
		return
	}
	l.set.conversations = append(l.set.conversations, c)
}

// add appends a conversation. One without a mode of its own gets that of its format.
func (l *loader) add(c conversation.Conversation) {
	if c.Mode == "" {
		c.Mode = l.set.info.Mode
	}
	l.put(c)
}

// newID gives out the session id of a conversation that brought none.
func (l *loader) newID() string {
	l.ids++
	return dataset.SessionID(l.Root, l.ids-1)
}

// rows reads the objects of a file and warns once of keys that are ignored.
func (l *loader) rows(path string, known []string, f func(*rows.Row)) error {
	raw := io.Discard
	if l.set.info.Trace && l.namespace == "" {
		l.hash = sha256.New()
		raw = l.hash
	}
	err := l.lines(path, raw, l.taking(known, f))
	l.tellUnknown()
	return err
}

// heldRows is rows of a file that is read again, as long as more says so after each.
func (l *loader) heldRows(file *rows.Held, known []string, f func(*rows.Row), more func() bool) error {
	take := l.taking(known, f)
	err := file.Read(func(line rows.Line) bool { return take(line) && more() })
	l.tellUnknown()
	return err
}

// taking makes rows of lines for f, and counts them.
func (l *loader) taking(known []string, f func(*rows.Row)) func(rows.Line) bool {
	return rows.Each(&l.faults, func(r *rows.Row) {
		if l.InputColumn == "" {
			spellPrompt(r, known)
		}
		l.look(r, known)
		if l.rowNo == 0 {
			l.set.info.FirstHasTime = r.Has("timestamp")
		}
		l.rowNo++
		if l.Reading != nil && l.rowNo%tellRows == 0 {
			l.Reading(l.rowNo)
		}
		f(r)
	})
}

// tellUnknown warns of keys that are ignored.
func (l *loader) tellUnknown() {
	if l.unknown != "" {
		l.set.info.Warnings = append(l.set.info.Warnings, l.unknown)
	}
}

// tellRows is how many rows are read between two words about it.
const tellRows = 1024

// look notes the first keys of the file that are not known; nil = any key means something.
func (l *loader) look(r *rows.Row, known []string) {
	if known == nil || l.unknown != "" && !l.strict {
		return
	}
	keys := slices.DeleteFunc(strange(r, known), func(key string) bool { return key == l.InputColumn })
	if l.strict {
		for _, key := range keys {
			r.Fault(key, "unknown key%s; known here are %s", guess(key, known), strings.Join(known, ", "))
		}
		return
	}
	if len(keys) > 0 {
		l.unknown = fmt.Sprintf("%s: unknown key %s is ignored (first seen here)", r.Where, strings.Join(keys, ", "))
	}
}

// guess is what a misspelt name may have been meant to be, in parentheses behind a blank.
func guess(name string, known []string) string {
	if meant := suggest.Name(name, known); meant != "" {
		return " (did you mean " + meant + "?)"
	}
	return ""
}

// strange lists the keys of a row that are not known.
func strange(r *rows.Row, known []string) []string {
	var out []string
	for key := range r.Names() {
		if !contains(known, key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
