// Package setting describes each setting in one row: its spelling on the command line, in a file and in the environment, its allowed values, and its
// help text. It reads a command line against a table of rows. It decides which tokens belong to which flag, checks the values, and suggests
// corrections for unknown words. It treats no setting specially by name.
package setting

import (
	"slices"
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/suggest"
)

// Kind is the type of a flag's value.
type Kind int

// The kinds of values.
const (
	Bool  Kind = iota // no value token; after the name, =true, =false, 1/0 or yes/no is allowed
	Int               // decimal integer
	Float             // decimal number; "inf" only where Inf is set
	Text              // any text
	Path              // any text that names a file or directory
	Enum              // one of Choices
)

// Row describes one setting. All parsing, checks and help texts of a setting are derived from its row.
type Row struct {
	Flags      []string // spellings with dashes; the first names the flag in help and in CommandLine; none if it is only a variable
	Hidden     []string // spellings that help omits
	FalseNames []string // spellings that mean false; only for a Bool
	Env        string   // environment variable without the prefix AIPERF_; empty = none
	// Key is the place of the value in a configuration file: a dotted path below "benchmark:", or at the top level for the keys of the envelope.
	// "phases.profiling" is the measured phase, "phases.warmup" the warm-up, "datasets.main" the data set, whatever their names. Empty means that the
	// setting has no key in a file. Several flags may share a key.
	Key     string
	Manual  bool   // code of the command line converts the value, which sets more than Key
	Group   string // heading in the help
	Kind    Kind
	Choices []string // values of an Enum, in snake case unless written with "-"
	Shown   []string // the Choices that help lists; empty = all
	Bounds  string   // bounds of numbers: ">= 1", "> 0, <= 100"
	// More returns further values of an Enum, which only the machine knows: the names of plug-ins. nil = none.
	More func() []string
	// KeyChoices are the choices in a file, if there are more than Choices.
	KeyChoices []string
	// KeyBounds are the bounds in a file, if they differ from Bounds.
	KeyBounds string
	Unit      string // "s" or "ms": the unit of a duration without one; values such as 500ms, 90s, 2m, 1h are valid too
	Default   string // as help prints it; empty = help prints none
	Help      string // one line
	Common    bool   // in the short help
	Files     bool   // a Text that may be a path: completion offers files
	Folder    bool   // a Path that is a folder

	List  bool // several values: more tokens, repeated flags, and commas unless Whole is set
	Whole bool // a comma is part of a value
	// Split splits one token of a List into values; nil splits at commas.
	Split      func(token string) []string
	Optional   bool   // a List that may have no value
	Alone      string // of a Text: the value of the flag without one; a value then needs "=" ("--web=ADDR")
	Sweep      bool   // a comma-separated list of numbers in one token is a sweep axis over Key
	Inf        bool   // "inf" is valid
	Big        bool   // an Int of any size, stored as a text of digits without sign and leading zeros
	Zero       bool   // 0 is valid despite the bounds and means off
	Empty      bool   // the empty text is valid
	Absent     bool   // the empty text means not given
	Words      bool   // a Bool that also takes a following true or false
	Tokens     bool   // a Text that takes several tokens, joined by blanks
	Repeatable bool   // a Bool that may be given twice

	Pace    bool // sets a pace, which conflicts with the timestamps of a file
	Trigger bool // starts a warm-up; the other warm-up settings only shape it

	Secret redact.ArgKind // which part of a value is secret and never written

	NotBuilt bool   // a known setting that is shown but rejected
	NoEffect string // accepted without effect, for this reason; of a NotBuilt variable: what to use instead
}

// Name returns the first spelling.
func (f *Row) Name() string {
	if len(f.Flags) == 0 {
		return ""
	}
	return f.Flags[0]
}

// Values returns all values of an Enum on this machine.
func (f *Row) Values() []string {
	if f.More == nil {
		return f.Choices
	}
	return slices.Concat(f.Choices, f.More())
}

// spellings yields all tokens that mean the flag, with the value that the token alone gives to a Bool.
func (f *Row) spellings(yield func(token string, positive bool) bool) {
	for _, list := range [][]string{f.Flags, f.Hidden} {
		for _, n := range list {
			if !yield(n, true) {
				return
			}
		}
	}
	for _, n := range f.FalseNames {
		if !yield(n, false) {
			return
		}
	}
}

// Table is the set of flags of one command.
type Table struct {
	Rows  []Row
	index map[string]entry
}

type entry struct {
	flag     *Row
	positive bool
}

// NewTable indexes the rows that have flags. It panics if two flags share a spelling.
func NewTable(groups ...[]Row) *Table {
	count := 0
	for _, g := range groups {
		count += len(g)
	}
	t := &Table{Rows: make([]Row, 0, count), index: make(map[string]entry, 2*count)}
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

// Lookup finds a flag by any of its spellings, also with "_" for "-".
func (t *Table) Lookup(token string) (f *Row, positive, ok bool) {
	e, ok := t.index[token]
	if !ok && strings.HasPrefix(token, "--") {
		e, ok = t.index[strings.ReplaceAll(token, "_", "-")]
	}
	return e.flag, e.positive, ok
}

// Suggest returns the spelling nearest to an unknown token; empty if none is near.
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
		names = append(names, t.Rows[i].FalseNames...)
	}
	return suggest.Name(token, names)
}
