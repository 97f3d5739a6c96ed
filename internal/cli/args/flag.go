// Package args reads a command line against a table of flags: which tokens belong to which flag, which values are legal, and what the
// user meant by a word that is in no table. It knows no flag by name.
package args

import (
	"strings"

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

// Flag is one row of a table.
type Flag struct {
	Names   []string // spellings with their dashes; the first one names the flag in help and in Set
	Hidden  []string // spellings that help does not show
	Not     []string // spellings that mean false; only for Bool
	Group   string   // heading in the help
	Kind    Kind
	Choices []string // of an Enum, snake case unless written with "-"
	Shown   []string // the Choices that help names; empty names all
	Bounds  string   // of numbers: ">= 1", "> 0, <= 100"
	Default string   // as help prints it; empty prints none
	Help    string   // one line

	List  bool // several values: more tokens, repetition, and commas unless Whole
	Whole bool // a comma is part of the value
	// Split cuts one token of a List into values; nil cuts at commas.
	Split    func(token string) []string
	Optional bool // a List that may stand without a value
	Sweep    bool // a comma list of numbers in one token is a sweep axis
	Inf      bool // "inf" is a value
	Big      bool // an Int of any size; it is a text of digits, without sign and leading zeros
	Zero     bool // 0 is accepted below the bounds and means off
	Empty    bool // the empty text is a value
	Absent   bool // the empty text means not given
	Words    bool // a Bool that also takes a following true or false
	Tokens   bool // a Text that takes several tokens and joins them with blanks

	Tier     string // S, U, G or N, see the contract
	NotBuilt bool   // known, shown, refused
	NoEffect string // accepted; why it changes nothing
}

// Name is the first spelling.
func (f *Flag) Name() string { return f.Names[0] }

// spellings are all tokens that mean the flag, with the value that the token alone gives to a Bool.
func (f *Flag) spellings(yield func(token string, positive bool) bool) {
	for _, list := range [][]string{f.Names, f.Hidden} {
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
	Flags []Flag
	index map[string]entry
}

type entry struct {
	flag     *Flag
	positive bool
}

// NewTable indexes flags; two flags with one spelling are a mistake in the table.
func NewTable(groups ...[]Flag) *Table {
	t := &Table{index: map[string]entry{}}
	for _, g := range groups {
		t.Flags = append(t.Flags, g...)
	}
	for i := range t.Flags {
		for token, positive := range t.Flags[i].spellings {
			if _, twice := t.index[token]; twice {
				panic("flag " + token + " is in the table twice")
			}
			t.index[token] = entry{&t.Flags[i], positive}
		}
	}
	return t
}

// Lookup finds a flag by any of its spellings, "_" for "-" included.
func (t *Table) Lookup(token string) (f *Flag, positive, ok bool) {
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
	for i := range t.Flags {
		names = append(names, t.Flags[i].Names...)
		names = append(names, t.Flags[i].Not...)
	}
	return suggest.Name(token, names)
}
