// Package setting is one row for one setting: how it is spelled on the command line, in a file and in the environment, what it may be, what
// help says of it. It reads a command line against a table of rows: which tokens belong to which flag, which values are legal, and what the
// user meant by a word that is in no table. It knows no setting by name.
package setting

import (
	"strings"

	"aiperf/internal/redact"
	"aiperf/internal/suggest"
)

// Kind is the type of a flag's value.
type Kind int

// The kinds of values.
const (
	Bool  Kind = iota // no value token; =true, =false, 1/0, yes/no after the name
	Int               // decimal integer
	Float             // decimal number; "inf" only where Inf is set
	Text              // anything
	Path              // anything, a file or directory
	Enum              // one of Choices
)

// Row is one setting. Everything that is said or checked about a setting is derived from its row.
type Row struct {
	Flags  []string // spellings with their dashes; the first one names the flag in help and in CommandLine; none for a variable
	Hidden []string // spellings that help does not show
	Not    []string // spellings that mean false; only for Bool
	Env    string   // variable of the environment, without the prefix AIPERF_; empty is none
	// Key is the place of the value in a configuration file: a dotted path below "benchmark:", or beside it for the keys of the envelope.
	// "phases.profiling" is the measured phase, "phases.warmup" the warm-up, "datasets.main" the data set, whatever their names. Empty: the
	// setting is in no file. Several flags may have one key.
	Key     string
	Manual  bool   // the command line turns the value into more than what stands at Key, by code of its own
	Group   string // heading in the help
	Kind    Kind
	Choices []string // of an Enum, snake case unless written with "-"
	Shown   []string // the Choices that help names; empty names all
	Bounds  string   // of numbers: ">= 1", "> 0, <= 100"
	// KeyChoices are the choices in a file where they are more than Choices.
	KeyChoices []string
	// KeyBounds are the bounds in a file where they are other than Bounds.
	KeyBounds string
	Unit      string // "s" or "ms" of a length of time: what a number without a unit counts; 500ms, 90s, 2m, 1h are values too
	Default   string // as help prints it; empty prints none
	Help      string // one line
	Common    bool   // in the short help
	Files     bool   // a Text that may be a path: completion offers files
	Folder    bool   // a Path that is a folder

	List  bool // several values: more tokens, repetition, and commas unless Whole
	Whole bool // a comma is part of the value
	// Split cuts one token of a List into values; nil cuts at commas.
	Split    func(token string) []string
	Optional bool // a List that may stand without a value
	Sweep    bool // a comma list of numbers in one token is a sweep axis over Key
	Inf      bool // "inf" is a value
	Big      bool // an Int of any size; it is a text of digits, without sign and leading zeros
	Zero     bool // 0 is accepted below the bounds and means off
	Empty    bool // the empty text is a value
	Absent   bool // the empty text means not given
	Words    bool // a Bool that also takes a following true or false
	Tokens   bool // a Text that takes several tokens and joins them with blanks
	Again    bool // a Bool that may stand twice

	Pace    bool // chooses a pace and so speaks against the times of a file
	Trigger bool // brings a warm-up about; the other settings of the warm-up only shape it

	Secret redact.ArgKind // what of a value is never written anywhere

	NotBuilt bool   // known, shown, refused
	NoEffect string // accepted; why it changes nothing; of a variable that is NotBuilt: what there is instead
}

// Name is the first spelling.
func (f *Row) Name() string {
	if len(f.Flags) == 0 {
		return ""
	}
	return f.Flags[0]
}

// spellings are all tokens that mean the flag, with the value that the token alone gives to a Bool.
func (f *Row) spellings(yield func(token string, positive bool) bool) {
	for _, list := range [][]string{f.Flags, f.Hidden} {
		for _, n := range list {
			if !yield(n, true) {
				return
			}
		}
	}
	for _, n := range f.Not {
		if !yield(n, false) {
			return
		}
	}
}

// Table is the flags of one command.
type Table struct {
	Rows  []Row
	index map[string]entry
}

type entry struct {
	flag     *Row
	positive bool
}

// NewTable indexes the rows that have a flag; two flags with one spelling are a mistake in the table.
func NewTable(groups ...[]Row) *Table {
	t := &Table{index: map[string]entry{}}
	for _, g := range groups {
		for _, row := range g {
			if row.Name() != "" {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	for i := range t.Rows {
		for token, positive := range t.Rows[i].spellings {
			if _, twice := t.index[token]; twice {
				panic("flag " + token + " is in the table twice")
			}
			t.index[token] = entry{&t.Rows[i], positive}
		}
	}
	return t
}

// Lookup finds a flag by any of its spellings, "_" for "-" included.
func (t *Table) Lookup(token string) (f *Row, positive, ok bool) {
	e, ok := t.index[token]
	if !ok && strings.HasPrefix(token, "--") {
		e, ok = t.index[strings.ReplaceAll(token, "_", "-")]
	}
	return e.flag, e.positive, ok
}

// Suggest returns the spelling nearest to a token that is none, empty when nothing is near.
func (t *Table) Suggest(token string) string {
	token = strings.ReplaceAll(token, "_", "-")
	if rest, ok := strings.CutPrefix(token, "--no-"); ok {
		if f, _, ok := t.Lookup("--" + rest); ok && f.Kind == Bool {
			return "--" + rest
		}
	}
	var names []string
	for i := range t.Rows {
		names = append(names, t.Rows[i].Flags...)
		names = append(names, t.Rows[i].Not...)
	}
	return suggest.Name(token, names)
}
