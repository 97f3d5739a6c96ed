package pipeline

import (
	"errors"
	"fmt"
	"testing"

	"aiperf/internal/measure/record"
)

// TestKnownCounts: a count that is known replaces counting only for exactly its text, and only if all models have the same tokenizer.
func TestKnownCounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		one   bool
		known record.CountedText
		texts []string
		want  int
	}{
		{"known", true, record.CountedText{Text: "a b", Tokens: 70}, []string{"a b"}, 75},
		{"several tokenizers", false, record.CountedText{Text: "a b", Tokens: 70}, []string{"a b"}, 7},
		{"another text", true, record.CountedText{Text: "a b", Tokens: 70}, []string{"a b c"}, 8},
		{"a further text", true, record.CountedText{Text: "a b", Tokens: 70}, []string{"a b", "c"}, 8},
		{"unknown", true, record.CountedText{Text: "a b"}, []string{"a b"}, 7},
	} {
		o := options(t)
		o.OneTokenizer = c.one
		p := New(o)
		got := p.counts(&record.Record{Counted: c.known}, &record.Reply{Output: "x", InputTexts: c.texts, InputTokens: 5})
		if got.Input != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got.Input, c.want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestInputCounts: every text is counted once for each model, whatever follows it; a failure is not stored.
func TestInputCounts(t *testing.T) {
	c := newInputCounts()
	calls := map[string]int{}
	count := func(model, text string) (int, error) {
		calls[model+"/"+text]++
		if text == "bad" && calls[model+"/"+text] == 1 {
			return 0, errors.New("too long")
		}
		return len(model) + 10*len(text), nil
	}
	for range 3 {
		for _, model := range []string{"m", "mm"} {
			for _, text := range []string{"", "a", "aa", "mm"} {
				if n, err := c.count(model, text, count); n != len(model)+10*len(text) || err != nil {
					t.Errorf("%q of %q: %d, %v", text, model, n, err)
				}
			}
		}
	}
	for key, n := range calls {
		if n != 1 {
			t.Errorf("%s was counted %d times", key, n)
		}
	}
	if _, err := c.count("m", "bad", count); err == nil {
		t.Error("no error")
	}
	if n, err := c.count("m", "bad", count); n != 31 || err != nil {
		t.Errorf("after a failure: %d, %v", n, err)
	}
	for i := range maxInputCounts + 10 {
		if n, err := c.count("m", fmt.Sprint(i), func(string, string) (int, error) { return i, nil }); n != i || err != nil {
			t.Fatalf("text %d: %d, %v", i, n, err)
		}
	}
	if len(c.counts) > maxInputCounts {
		t.Errorf("%d counts are stored", len(c.counts))
	}
}
