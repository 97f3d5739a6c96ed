package comparison

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// blocks are pairs of blocks, B slower by a factor.
func blocks(pairs, n int, factors ...float64) (a, b []Run) {
	for i := range pairs {
		a, b = append(a, made(uint64(100+i), n, 100)), append(b, made(uint64(200+i), n, 100*factors[i%len(factors)]))
	}
	return a, b
}

// TestEachPair: an effect that every pair shows by itself is judged although there are too few pairs for their test; one that a single pair does not show, or
// that is near the margin, is not.
func TestEachPair(t *testing.T) {
	for name, c := range map[string]struct {
		pairs   int
		n       int
		factors []float64
		want    Outcome
		refused bool
	}{
		"twice as slow":               {4, 400, []float64{2}, Worse, false},
		"half as slow":                {4, 400, []float64{0.5}, Better, false},
		"three pairs":                 {3, 400, []float64{2}, Worse, false},
		"blocks of twenty":            {4, 20, []float64{3}, Worse, false},
		"twice as slow and more":      {4, 400, []float64{1.95, 4}, Worse, false},
		"two pairs":                   {2, 400, []float64{2}, Cannot, true},
		"one pair does not":           {4, 400, []float64{2, 2, 2, 1.04}, Cannot, true},
		"one pair the other way":      {4, 400, []float64{2, 2, 2, 0.5}, Cannot, true},
		"equal":                       {5, 400, []float64{1}, Cannot, true},
		"a little more than a margin": {5, 400, []float64{1.07}, Cannot, true},
		"small blocks":                {4, 15, []float64{2}, Cannot, true},
	} {
		a, b := blocks(c.pairs, c.n, c.factors...)
		r, err := Pairs(a, b, usual, 1)
		if err != nil {
			t.Fatal(err)
		}
		l := lineOf(t, r, "request_latency", "mean")
		if l.Outcome != c.want || (r.Refused != "") != c.refused || r.Outcome != c.want {
			t.Errorf("%s: %s; refused: %q, in all %s", name, l.Sentence(0.95), r.Refused, r.Outcome)
		}
		if c.want != Worse {
			continue
		}
		var least float64 // the end nearest to 0 of all pairs: below the smallest of their effects
		_, said, _ := strings.Cut(l.Reason, fmt.Sprintf("each of the %d pairs alone shows a difference of ", c.pairs))
		if _, err := fmt.Sscanf(said, "%f %% or more", &least); err != nil || least > 100*(slices.Min(c.factors)-1) || least < 50*(slices.Min(c.factors)-1) {
			t.Errorf("%s: %q", name, l.Reason)
		}
		if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "only differences that every pair shows alone are judged") {
			t.Errorf("%s: %q", name, r.Notes)
		}
	}
}

// TestFewTestedPairs: eight pairs of a large effect cannot pass a family of twenty lines by their signs, but each shows it.
func TestFewTestedPairs(t *testing.T) {
	a, b := blocks(6, 400, 1.99, 1.995, 2)
	r, err := Pairs(a, b, usual, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l := lineOf(t, r, "request_latency", "mean"); l.Outcome != Worse || !strings.Contains(l.Reason, "each of the 6 pairs") || l.PHolm < 0.05 {
		t.Errorf("%s, p %v", l.Sentence(0.95), l.PHolm)
	}
	if r.Undecided() && r.Outcome != Worse {
		t.Errorf("in all %s", r.Outcome)
	}
}

// TestUncertainPairs: limits of blocks move the interval of the pairs, and an effect outside of all of them is found.
func TestUncertainPairs(t *testing.T) {
	a, plain := blocks(12, 400, 1.2)
	near, far := make([]Run, 12), make([]Run, 12)
	for i := range plain {
		near[i], far[i] = withBounds(plain[i], 0.75, 1), withBounds(made(uint64(300+i), 400, 300), 0.75, 1)
	}
	for _, c := range []struct {
		b    []Run
		want Outcome
	}{{plain, Worse}, {near, Cannot}, {far, Worse}} {
		r, err := Pairs(a, c.b, usual, 1)
		if err != nil {
			t.Fatal(err)
		}
		if l := lineOf(t, r, "request_latency", "p99"); l.Outcome != c.want {
			t.Errorf("%s, want %s", l.Sentence(0.95), c.want)
		}
	}
}

// TestEachPairFalseAlarms: of 200 comparisons of three blocks a side of equal servers, and of 100 of six, none is called different.
func TestEachPairFalseAlarms(t *testing.T) {
	for pairs, times := range map[uint64]uint64{3: 200, 6: 100} {
		for k := range times {
			var a, b []Run
			for i := range pairs {
				a, b = append(a, made(1000+k*10+i, 60, 100)), append(b, made(9000+k*10+i, 60, 100))
			}
			r, err := Pairs(a, b, usual, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Lines {
				if l := &r.Lines[i]; l.Outcome == Better || l.Outcome == Worse {
					t.Errorf("%d pairs, %d: %s", pairs, k, l.Sentence(0.95))
				}
			}
		}
	}
}

// TestLoneLevel: the signs of pairs are evidence too, so that the interval of each may be narrower the more there are, down to the confidence.
func TestLoneLevel(t *testing.T) {
	for _, c := range []struct {
		pairs, lines int
		want         float64
	}{{3, 20, 0.99}, {4, 20, 0.98}, {5, 16, 0.95}, {12, 16, 0.95}, {3, 1, 0.95}} {
		if got := usual.singlePairLevel(c.pairs, c.lines); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d pairs, %d lines: %v, want %v", c.pairs, c.lines, got, c.want)
		}
	}
}

// TestEachPairOfSmallBlocks: six pairs of blocks of 30 requests show 20 % in the median, although one of their intervals would not at the level of the whole
// family.
func TestEachPairOfSmallBlocks(t *testing.T) {
	a, b := blocks(6, 30, 1.2)
	r, err := Pairs(a, b, usual, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l := lineOf(t, r, "request_latency", "p50"); l.Outcome != Worse || !strings.Contains(l.Reason, "each of the 6 pairs") {
		t.Error(l.Sentence(0.95))
	}
}
