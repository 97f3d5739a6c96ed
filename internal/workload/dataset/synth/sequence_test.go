package synth

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/dataset"
)

// merging is a tokenizer whose tokens do not survive a round trip. Every byte is a token, but "th" in a text is one token. The corpus is cut so that
// its halves may be separate tokens.
type merging struct{ never bool }

func (m merging) Append(dst []int32, text string) []int32 {
	for i := 0; i < len(text); i++ {
		if text[i] == 't' && i+1 < len(text) && text[i+1] == 'h' {
			dst = append(dst, 256)
			i++
			continue
		}
		dst = append(dst, int32(text[i]))
	}
	if m.never && len(dst)%2 == 1 {
		dst = append(dst, ' ') // no text has an odd number of tokens
	}
	return dst
}

func (m merging) Count(text string) int { return len(m.Append(nil, text)) }

func (m merging) Decode(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		if id == 256 {
			b.WriteString("th")
		} else {
			b.WriteByte(byte(id))
		}
	}
	return b.String()
}

// ragged returns a corpus whose chunks end in t and begin with h, so that prompts across a border are one token short.
func ragged(t *testing.T, tok Tokenizer) *Corpus {
	t.Helper()
	c := &Corpus{tok: tok, chunks: make([]chunk, 400), offsets: make([]int, 401)}
	for i := range c.chunks {
		c.chunks[i].ids = tok.Append(nil, fmt.Sprintf("h%dt", i))
		c.offsets[i+1] = c.offsets[i] + len(c.chunks[i].ids)
	}
	return c
}

// sequential generates the prompts one after the other, as described by the contract.
func sequential(t *testing.T, c *Corpus, root *rng.Root, lengths []int) []string {
	t.Helper()
	stream := root.Stream("dataset.prompt.corpus")
	var out []string
	for _, n := range lengths {
		ids := c.Append(nil, stream.Below(c.Size()), n)
		text := ""
		for range repairRounds {
			text = c.tok.Decode(ids)
			ids = c.tok.Append(nil, text)
			if len(ids) == n {
				break
			}
			if len(ids) > n {
				ids = ids[:n]
			} else {
				ids = c.Append(ids, stream.Below(c.Size()), n-len(ids))
			}
			text = c.tok.Decode(ids)
		}
		out = append(out, text)
	}
	return out
}

// TestRepairs compares with sequential generation: many prompts need repair, are generated in blocks on all cores and requested in any order.
func TestRepairs(t *testing.T) {
	c := ragged(t, merging{})
	seed := uint64(11)
	root := rng.New(&seed)
	var lengths []int
	for i := range 300 {
		lengths = append(lengths, 1+i%37)
	}
	want := sequential(t, c, root, lengths)
	s := NewSequence(c, root)
	for _, n := range lengths {
		s.Add(n, NoPrefix)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < len(lengths); i += 4 {
				if got := s.Text(i); got != want[i] {
					t.Errorf("prompt %d: %q, want %q", i, got, want[i])
				}
			}
		})
	}
	wg.Wait()
	if len(s.fixed) < 50 {
		t.Errorf("only %d prompts had to be repaired: the test is too easy", len(s.fixed))
	}
	for i, n := range lengths {
		if got := c.tok.Count(s.Text(i)); got != n {
			t.Errorf("prompt %d has %d tokens, want %d", i, got, n)
		}
	}
	if s.Inexact() != 0 {
		t.Errorf("%d prompts are said to be inexact", s.Inexact())
	}
}

// TestInexact checks that a length that no text has is reported, and that later prompts are still generated.
func TestInexact(t *testing.T) {
	c := ragged(t, merging{never: true})
	seed := uint64(11)
	s := NewSequence(c, rng.New(&seed))
	s.Add(7, NoPrefix)
	s.Add(8, NoPrefix)
	if s.Text(0) == "" || c.tok.Count(s.Text(1)) != 8 {
		t.Errorf("got %q, %q", s.Text(0), s.Text(1))
	}
	if s.Inexact() != 1 {
		t.Errorf("%d inexact prompts, want 1", s.Inexact())
	}
}

// TestLongerThanTheCorpus checks that the corpus repeats.
func TestLongerThanTheCorpus(t *testing.T) {
	c := ragged(t, merging{})
	seed := uint64(1)
	s := NewSequence(c, rng.New(&seed))
	n := 3*c.Size() + 5
	s.Add(n, NoPrefix)
	if got := c.tok.Count(s.Text(0)); got != n {
		t.Errorf("%d tokens, want %d", got, n)
	}
}

// TestExactLengths checks that every length is exact with the built-in tokenizer.
func TestExactLengths(t *testing.T) {
	c := testCorpus(t)
	seed := uint64(3)
	s := NewSequence(c, rng.New(&seed))
	lengths := []int{1, 2, 3, 7, 50, 199, 1000, 4000, 20_000}
	for range 40 {
		lengths = append(lengths, 1, 2, 3, 5)
	}
	for _, n := range lengths {
		s.Add(n, NoPrefix)
	}
	for i, n := range lengths {
		text, known := s.Counted(i)
		if got := c.tok.Count(text); got != n || known != n || text != s.Text(i) {
			t.Errorf("prompt %d has %d tokens, %d are known, want %d", i, got, known, n)
		}
	}
	if _, known := s.Counted(s.AddUnchecked(4)); known != 0 {
		t.Errorf("%d tokens are known of a text that is not checked", known)
	}
}

// TestKnownCounts checks that conversations carry the number of tokens of their text, and none if a turn has several texts.
func TestKnownCounts(t *testing.T) {
	for texts := 1; texts <= 2; texts++ {
		o := base(t, 4)
		o.Entries, o.ISL, o.Batch = 50, dataset.Distribution{Mean: 30, StdDev: 10}, texts
		o.Context.PrefixLength, o.Context.PrefixPool = 7, 3
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for i := range o.Entries {
			turn := &s.Conversation(i).Turns[0]
			got, want := turn.Counted, turn.Parts[0].Text
			if texts > 1 {
				if got.Tokens != 0 {
					t.Fatalf("%d tokens are known of two texts", got.Tokens)
				}
				continue
			}
			if n := o.Corpus.tok.Count(want); got.Text != want || got.Tokens != n && got.Tokens != 0 {
				t.Fatalf("conversation %d: %d tokens are known of %q, not %d of %q", i, got.Tokens, got.Text, n, want)
			}
			if got.Tokens > 0 {
				known++
			}
		}
		if texts == 1 && known < o.Entries*9/10 { // the texts that were repaired are counted later
			t.Errorf("the tokens of %d of %d texts are known", known, o.Entries)
		}
	}
}

// TestAnyOrder checks that conversations do not depend on the order of requests.
func TestAnyOrder(t *testing.T) {
	o := base(t, 9)
	o.Entries, o.ISL = 200, dataset.Distribution{Mean: 20, StdDev: 8}
	o.Turns, o.Delay = dataset.Distribution{Mean: 2, StdDev: 1}, &dataset.Distribution{Mean: 100, StdDev: 30}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	order := rng.NewStream(1).Sample(o.Entries, o.Entries)
	turns := 0
	for _, i := range order {
		x, y := a.Conversation(i), b.Conversation(o.Entries-1-i)
		turns += len(x.Turns)
		if got, want := fmt.Sprintf("%+v", b.Conversation(i).Turns[0].Parts), fmt.Sprintf("%+v", x.Turns[0].Parts); got != want {
			t.Fatalf("conversation %d: %s, %s", i, got, want)
		}
		if len(a.Timings(i)) != len(x.Turns) || a.Timings(i)[0].Delay != nil || y.ID == x.ID && i*2 != o.Entries-1 {
			t.Fatalf("conversation %d: timings %v", i, a.Timings(i))
		}
		for k, turn := range x.Turns[1:] {
			if *turn.Delay != *a.Timings(i)[k+1].Delay || *turn.Delay < 1 {
				t.Fatalf("conversation %d: delay %v", i, turn.Delay)
			}
		}
	}
	if f := a.Info(); f.Turns != turns || !f.Delays || f.Timestamps {
		t.Errorf("%d turns, info %+v", turns, f)
	}
}

func TestTemplateCost(t *testing.T) {
	o := base(t, 1)
	o.ISL.Mean, o.Special, o.Template, o.Turns.Mean = 100, 1, TemplateCost{Request: 4, Message: 5}, 2
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Conversation(0)
	var got []int
	for _, turn := range c.Turns {
		got = append(got, o.Corpus.tok.Count(turn.Parts[0].Text))
	}
	if want := []int{90, 94}; !slices.Equal(got, want) {
		t.Errorf("got %v tokens, want %v", got, want)
	}
}

func TestPrefixWithoutPool(t *testing.T) {
	o := base(t, 1)
	o.Context.PrefixLength = 5
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Info().Warnings; len(w) != 1 || !strings.Contains(w[0], "prefix_prompts.pool_size") {
		t.Errorf("warnings %q", w)
	}
	if n := o.Corpus.tok.Count(s.Conversation(0).Turns[0].Parts[0].Text); n != 550 {
		t.Errorf("%d tokens, want 550", n)
	}
}

func TestOptionErrors(t *testing.T) {
	tests := []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Entries = 0 }, "datasets.main.entries"},
		{func(o *Options) { o.ISL.Mean = 0 }, "prompts.isl.mean"},
		{func(o *Options) { o.Batch = 0 }, "prompts.batch_size"},
		{func(o *Options) { o.Turns.Mean = -1 }, "datasets.main.turns.mean"},
		{func(o *Options) { o.Context = Context{System: "a", SharedSystem: 1} }, "datasets.main.system_prompt"},
		{func(o *Options) { o.Context = Context{PrefixLength: 1, PrefixPool: 1, User: 1} }, "user_context_length"},
		{func(o *Options) { o.Pairs = []Pair{{ISL: 1, OSL: 1, Percent: 50}} }, "sequence_distribution"},
		{func(o *Options) { o.Assignment.Models = nil }, "models"},
	}
	for _, test := range tests {
		o := base(t, 1)
		test.change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want a word about %s", err, test.want)
		}
	}
}

// BenchmarkPrompts generates prompts of 550 tokens, including checks.
func BenchmarkPrompts(b *testing.B) {
	c := testCorpus(b)
	s := NewSequence(c, rng.New(nil))
	for range b.N + 2*blockPrompts {
		s.Add(550, NoPrefix)
	}
	s.Text(0)
	b.ResetTimer()
	for i := range b.N {
		s.Text(i)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "prompts/s")
}
