package synth

import (
	"slices"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/dataset"
)

// TestRankingsTakeNoPrefix compares with the bodies of the Python tool for these flags. It generates no prefix pool for rankings, so the first
// position in the corpus is that of the first query.
func TestRankingsTakeNoPrefix(t *testing.T) {
	o := base(t, 3)
	o.Entries, o.Rankings = 3, &Rankings{Passages: dataset.Distribution{Mean: 2}, PassageTokens: dataset.Distribution{Mean: 20}, QueryTokens: dataset.Distribution{Mean: 8}}
	o.Context = Context{PrefixLength: 10, PrefixPool: 2}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Conversation(0).Turns[0].Parts[0].Text, " for thou swearst to me thou art"; got != want {
		t.Errorf("the first query is %q, want %q", got, want)
	}
}

// TestShortDelay checks that a mean below one millisecond is still a delay. The mean is rounded down to 0, and its draws are at least 1.
func TestShortDelay(t *testing.T) {
	o := base(t, 3)
	o.Turns.Mean, o.Delay, o.DelayRatio = 3, &dataset.Distribution{}, 0.5
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, timing := range s.Timings(0)[1:] {
		got = append(got, *timing.Delay)
	}
	if !slices.Equal(got, []float64{0.5, 0.5}) || !s.Info().Delays {
		t.Errorf("delays %v, info %+v", got, s.Info())
	}
}

// TestContextsWaitForNoTurn checks that user contexts are drawn after all turns if the user gave a seed, like in the Python tool. Without a seed
// nothing is drawn before it is requested, however large the dataset is.
func TestContextsWaitForNoTurn(t *testing.T) {
	for _, seeded := range []bool{true, false} {
		o := base(t, 3)
		o.Entries, o.Context = 500, Context{User: 9}
		if !seeded {
			o.Root = rng.New(nil)
		}
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if drawn := s.drawn; drawn != 0 && !seeded || drawn != 500 && seeded {
			t.Errorf("seeded %v: %d conversations are drawn before the first is asked for", seeded, drawn)
		}
		a, b := s.Conversation(0), s.Conversation(499)
		for _, text := range []string{a.UserContext, b.UserContext} {
			if n := len(o.Corpus.tok.Append(nil, text)); n != 9 {
				t.Errorf("seeded %v: a context of %d tokens, not 9: %q", seeded, n, text)
			}
		}
		if again := s.Conversation(0); a.UserContext == b.UserContext || again.UserContext != a.UserContext || a.UserContext == a.Turns[0].Parts[0].Text || s.Inexact() != 0 {
			t.Errorf("seeded %v: %q, %q, then %q", seeded, a.UserContext, b.UserContext, again.UserContext)
		}
	}
}
