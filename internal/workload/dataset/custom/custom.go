package custom

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/suggest"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
	"aiperf/internal/workload/dataset/weka"
)

// Options control how a file is read.
type Options struct {
	Spell setting.Spell `json:"-"` // names settings in errors
	Root  *rng.Root
	Type  string // format named by the user; "" = detect it from the content
	// InputColumn is the key or column of the prompts. "" = the first usual name that exists: text, prompt and others.
	InputColumn string
	Records     []Pool // rows given in the configuration instead of a file; nil = there is a file
	// PayloadRows: the rows of a mooncake file have the schema of GenAI-Perf's payload files.
	PayloadRows bool
	Assignment  dataset.Assignment
	Entries     int // number of conversations drawn from a pool, 0 = 100; other formats use all that they have
	// Batches is the number of contents of a kind in a turn drawn from a pool. A kind that is missing takes the contents of one row.
	Batches    map[conversation.Kind]int
	Early      bool     // conversations are used in file order: the first can be sent before a large file is read to its end
	Scheduled  bool     // conversations start at their own times
	Together   int      // number of conversations that start at once; with reading during the run, this number is read before the first is sent
	DelayRatio float64  // multiplies delays
	DelayCap   *float64 // ms; maximum of a delay before scaling; nil = no limit
	Limits     trace.Limits
	Synthesis  *trace.Synthesis // rescales recorded traffic; nil = as recorded
	// HoistSystem: the endpoint sends system messages, so a system turn at the start becomes the system message.
	HoistSystem bool
	// StripKnown sends an image that was sent before by its id alone.
	StripKnown bool
	// Fetch downloads images that the file gives as URLs and passes them on one by one; nil = the URLs are sent.
	Fetch   func(addresses []string, got func(i int, d Download))
	Context synth.Context // text around the conversations; a prefix pool works with generated data only

	Agents     weka.Options // options for recorded agents; their limits and models come from the other settings
	Join       weka.Join    // how started agents are matched if the recording does not name their parent
	MaxContext int          // tokens; traces of agents with a longer prompt and answer are skipped; 0 = no limit
	Columnar   Columnar     // options for traces in columns

	// Corpus opens the text that prompts of a given length are cut from. standard is the name to use if the user chose none ("" = the default text).
	// It is called only if the file needs it.
	Corpus    func(standard string) (*synth.Corpus, error)
	BlockSize int // tokens per hash id block; 0 = default of the format
	// Reading is called from time to time with the number of rows read, while nothing can be sent yet; nil = not called.
	Reading func(rows int) `json:"-"`
	// Marker returns how many tokens are inserted into a system message and into the first text of a session when they are sent. Generated texts of a
	// given length are shorter by that much; nil = nothing is inserted.
	Marker func() (system, text int) `json:"-"`
	// Separator returns the first token of a block, nil = none. It is called after the corpus was opened. A nil function = no format has one.
	Separator func() *int32

	Programs program.Starter `json:"-"` // starts the programs of plug-ins; nil = they end by their own deadlines only

	folder bool // the path is a folder
	strict bool // unknown keys of rows are errors
}

// Dataset is a dataset read from a file.
type Dataset struct {
	conversations []conversation.Conversation
	source        source                                    // provides the conversations; nil = they are in memory
	system        string                                    // system message of every conversation; "" = none
	fill          func(i int, c *conversation.Conversation) // generates the texts that are not literal; nil = none
	readStored    func(i int, c *conversation.Conversation) // reads what was left in the file; nil = nothing was
	info          dataset.Info
	root          *rng.Root
	prompts       *synth.Sequence
}

var _ dataset.Dataset = (*Dataset)(nil)

// source provides conversations that are not in memory, before their texts are generated.
type source interface {
	drawn() int
	id(i int) string
	timings(i int) []dataset.Timing
	draft(i int) conversation.Conversation
}

// loader collects the content of a file for a Dataset.
type loader struct {
	Options
	set     *Dataset
	faults  dataset.Faults
	ids     int       // session ids generated
	rowNo   int       // rows read
	unknown string    // warning about the first unknown keys
	hash    hash.Hash // hash of the bytes of a trace, complete once its rows are read
	// namespace is the namespace of the file's hash ids, if it was determined before its rows are read.
	namespace string
	media     *library
	traffic   *Traffic // receives the recorded requests instead of the dataset; nil = conversations are built
	// hasNames: some content has a name given by its row.
	hasNames        bool
	otherCategories map[string]bool                 // other categories seen, whose rows are skipped
	sink            func(conversation.Conversation) // receives conversations that are not stored; nil = they are stored
	sinkCount       int                             // number of conversations passed to sink
	raisedOutputs   int                             // number of output lengths raised to 1
	raisedAt        string                          // position of the first of them
	corpus          string                          // name of the text that prompts are cut from; "" = the default one
}

func newLoader(o Options, info dataset.Info) *loader {
	return &loader{Options: o, set: &Dataset{root: o.Root, info: info}, media: newLibrary()}
}

// Open reads the file. Its error has one line for each of the first ten errors.
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
		if name, err = detectAny(path, o.InputColumn, o.Programs); err != nil {
			return nil, withSpelling(err, o.Spell)
		}
	}
	format, ok := Find(name)
	if !ok {
		return nil, CheckType(name)
	}
	o.folder = o.Records == nil && isFolder(path)
	if err := o.checkFormat(path, format); err != nil {
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
	if format.grow != nil && o.Records == nil && o.canStreamAgents(path) {
		return format.grow(path, o, info, format.corpus)
	}
	d, err := Collect(path, o, info, func(l *loader) error {
		l.corpus = format.corpus
		if stat, err := os.Stat(path); format.Trace && err == nil && stat.Mode().IsRegular() && stat.Size() > maxScanned {
			over, err := scanFile(path, nil)
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

// checkFormat returns an error if the options or the path do not fit the format.
func (o Options) checkFormat(path string, format Format) error {
	switch {
	case o.Records != nil:
		if err := inlinable(format, o.Records, o.Spell); err != nil {
			return err
		}
	case o.folder && !format.Folder:
		return fmt.Errorf("%s %w", o.Spell.As("datasets.main.path"), notFolder(path, format.Name))
	}
	if o.InputColumn != "" && !format.Column {
		return noColumnError(path, format, o.Spell)
	}
	if o.StripKnown && format.Name == "multi_turn" {
		return fmt.Errorf("%s: %s has the format multi_turn, whose turns repeat the history; write single_turn rows with one session_id instead", o.Spell.As("endpoint.uuid_and_strip"), path)
	}
	switch {
	case o.Synthesis == nil:
	case !format.Trace:
		return fmt.Errorf("%s needs recorded traffic, for example mooncake_trace; %s has the format %s", o.Spell.As("datasets.main.synthesis"), path, format.Name)
	case format.Unscaled && o.Synthesis.Changes():
		return fmt.Errorf("%s: %w", path, o.Rescaled())
	}
	return nil
}

func (l *loader) nothingLeft(path string) error {
	f := l.set.info
	switch {
	case l.otherCategories != nil:
		return dataset.Empty("%s: no row has the category %s; the file has %s", path, speedBenchCategory(l.Type), sortedKeys(l.otherCategories))
	case f.OutsideWindow > 0:
		return dataset.Empty("%s: no rows left: %d are outside the window (%s), the input of %d is longer than %s", path, f.OutsideWindow, l.Limits.Window(l.Spell), f.TooLong,
			l.Spell.As("datasets.main.synthesis.max_isl"))
	case f.TooLong > 0:
		return dataset.Empty("%s: no rows left: the input of %d is longer than %s %d", path, f.TooLong, l.Spell.As("datasets.main.synthesis.max_isl"), l.Limits.MaxISL)
	}
	if len(f.Warnings) > 0 { // they explain what happened to the rows
		said := make([]string, len(f.Warnings))
		for i, w := range f.Warnings {
			said[i] = strings.TrimPrefix(w, path+": ")
		}
		return fmt.Errorf("%s: no records left: %s", path, strings.Join(said, "; "))
	}
	return fmt.Errorf("%s: no records", path)
}

// put stores a conversation unchanged.
func (l *loader) put(c conversation.Conversation) {
	if l.sink != nil {
		l.sinkCount++
		l.sink(c)
		return
	}
	l.set.conversations = append(l.set.conversations, c)
}

// add appends a conversation. If it has no mode, it gets the mode of the format.
func (l *loader) add(c conversation.Conversation) {
	if c.Mode == "" {
		c.Mode = l.set.info.Mode
	}
	l.put(c)
}

// newID returns the session id of a conversation without one.
func (l *loader) newID() string {
	l.ids++
	return dataset.SessionID(l.Root, l.ids-1)
}

// rows reads the objects of a file and warns once of unknown keys.
func (l *loader) rows(path string, known []string, f func(*rows.Row)) error {
	raw := io.Discard
	if l.set.info.Trace && l.namespace == "" {
		l.hash = sha256.New()
		raw = l.hash
	}
	err := l.lines(path, raw, l.rowParser(known, f))
	l.warnUnknown()
	return err
}

// rereadRows reads the rows of a file that can be read again, until more returns false.
func (l *loader) rereadRows(file *rows.RereadableFile, known []string, f func(*rows.Row), more func() bool) error {
	take := l.rowParser(known, f)
	err := file.Read(func(line rows.Line) bool { return take(line) && more() })
	l.warnUnknown()
	return err
}

// rowParser returns a function that parses lines as rows for f and counts them.
func (l *loader) rowParser(known []string, f func(*rows.Row)) func(rows.Line) bool {
	return rows.Each(&l.faults, func(r *rows.Row) {
		if l.InputColumn == "" {
			spellPrompt(r, known)
		}
		l.recordUnknownKeys(r, known)
		if l.rowNo == 0 {
			l.set.info.FirstHasTime = r.Has("timestamp")
		}
		l.rowNo++
		if l.Reading != nil && l.rowNo%rowsPerReport == 0 {
			l.Reading(l.rowNo)
		}
		f(r)
	})
}

// warnUnknown warns of unknown keys.
func (l *loader) warnUnknown() {
	if l.unknown != "" {
		l.set.info.Warnings = append(l.set.info.Warnings, l.unknown)
	}
}

// rowsPerReport is the number of rows between two calls of Reading.
const rowsPerReport = 1024

// recordUnknownKeys records the first unknown keys of the file. known nil = every key is allowed.
func (l *loader) recordUnknownKeys(r *rows.Row, known []string) {
	if known == nil || l.unknown != "" && !l.strict {
		return
	}
	keys := slices.DeleteFunc(unknownKeys(r, known), func(key string) bool { return key == l.InputColumn })
	if l.strict {
		for _, key := range keys {
			r.Fault(key, "unknown key%s; allowed are %s", guess(key, known), strings.Join(known, ", "))
		}
		return
	}
	if len(keys) > 0 {
		l.unknown = fmt.Sprintf("%s: unknown key %s is ignored (first seen here)", r.Where, strings.Join(keys, ", "))
	}
}

// guess returns " (did you mean X?)" for a misspelt name, or "".
func guess(name string, known []string) string {
	if meant := suggest.Name(name, known); meant != "" {
		return " (did you mean " + meant + "?)"
	}
	return ""
}

// unknownKeys lists the unknown keys of a row.
func unknownKeys(r *rows.Row, known []string) []string {
	var out []string
	for key := range r.Names() {
		if !contains(known, key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
