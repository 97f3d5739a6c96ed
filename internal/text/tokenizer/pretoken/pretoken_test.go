package pretoken

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/budget"
	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/regex"
	"aiperf/internal/text/tokenizer/scanner"
)

// chain hands pieces from stage to stage and collects what comes out.
type chain struct {
	stages []Stage
	pieces *[]string
}

// Piece implements Sink.
func (c chain) Piece(s string, first bool) {
	if len(c.stages) == 0 {
		*c.pieces = append(*c.pieces, s)
		return
	}
	c.stages[0].Split(s, first, chain{c.stages[1:], c.pieces})
}

// Budget implements Sink.
func (c chain) Budget() *budget.Budget { return nil }

// cut is what stages make of a text.
func cut(s string, stages ...Stage) []string {
	pieces := []string{}
	if s != "" {
		chain{stages, &pieces}.Piece(s, true)
	}
	return pieces
}

// split is the stage of a scanner and a behaviour.
func split(t *testing.T, f scanner.Func, b Behavior, invert bool) Stage {
	t.Helper()
	s, err := NewSplit(Scanner{Func: f}, b, invert)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAgainstTheReference: how pre-tokenizers of the reference library cut some texts (../testdata/components.py).
func TestAgainstTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name string
		In   []string
		Out  [][]string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	all := map[string][]Stage{
		"Whitespace": {split(t, Whitespace(), Removed, true)}, "WhitespaceSplit": {WhitespaceSplit{}}, "Bert": {Bert{}},
		"Punctuation": {Isolated(Punctuation())}, "Punctuation Removed": {split(t, Punctuation(), Removed, false)},
		"Digits": {Isolated(Digits(false))}, "Digits single": {Isolated(Digits(true))}, "Delimiter": {split(t, Delimiter('-'), Removed, false)},
		"Metaspace always": {Metaspace{"▁", Always, true}}, "Metaspace first": {Metaspace{"▁", First, true}}, "Metaspace never": {Metaspace{"▁", Never, false}},
		"Scripts": {NewScripts()}, "FixedLength": {FixedLength(4)}, "ByteLevel": {PrefixSpace{}, Isolated(scanner.GPT2), Rewrite(normalizer.ByteLevel)},
		"Text MergedWithNext": {split(t, Text(" "), MergedWithNext, false)},
	}
	letters, err := regex.Compile("[A-Za-z]+|[0-9]")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]Behavior{
		"removed": Removed, "isolated": IsolatedBehavior, "merged_with_previous": MergedWithPrevious, "merged_with_next": MergedWithNext, "contiguous": Contiguous,
	} {
		all["Regex "+name] = []Stage{split(t, Scanner{Engine: letters}.Within(nil), b, false)}
		all["Inverted "+name] = []Stage{split(t, Scanner{Engine: letters}.Within(nil), b, true)}
	}
	for _, c := range cases {
		stages := all[c.Name]
		if stages == nil {
			t.Errorf("%s: recorded, and not tested", c.Name)
		}
		for i, in := range c.In {
			// The reference tells the empty pieces in front of nothing; nobody encodes them.
			want := slices.DeleteFunc(c.Out[i], func(s string) bool { return s == "" })
			if got := cut(in, stages...); !slices.Equal(got, want) {
				t.Errorf("%s: %q is cut into\n%q, the reference says\n%q", c.Name, in, got, want)
			}
		}
	}
}

// TestFirst: only the piece at the very beginning of the input is marked as first.
func TestFirst(t *testing.T) {
	var first []bool
	Isolated(Digits(true)).Split("a1b", true, told{&first})
	Isolated(Digits(true)).Split("1b", false, told{&first})
	if !slices.Equal(first, []bool{true, false, false, false, false}) {
		t.Error(first)
	}
}

type told struct{ first *[]bool }

func (o told) Piece(_ string, first bool) { *o.first = append(*o.first, first) }

// Budget implements Sink.
func (o told) Budget() *budget.Budget { return nil }

// TestPatterns: common patterns have their own scanners, others go to the engine, and nonsense is refused.
func TestPatterns(t *testing.T) {
	for pattern := range scanner.Known {
		f, err := Regex(pattern)
		if err != nil {
			t.Fatal(err)
		}
		re, err := regex.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		const text = "It's 1234 o'clock,\n\n  naïve 漢字!"
		if got, want := cut(text, f.Isolated()), cut(text, Scanner{Engine: re}.Isolated()); !slices.Equal(got, want) {
			t.Errorf("%s: the scanner cuts %q, the engine %q", pattern, got, want)
		}
	}
	if f, err := Regex(`b+`); err != nil || !slices.Equal(cut("abba", f.Isolated()), []string{"a", "bb", "a"}) {
		t.Error(err)
	}
	if _, err := Regex(`(`); err == nil {
		t.Error("an open bracket is a pattern")
	}
	if _, err := NewSplit(Scanner{Func: Punctuation()}, "Mixed", false); err == nil || !strings.Contains(err.Error(), `behavior "Mixed" is not supported`) {
		t.Error(err)
	}
}
