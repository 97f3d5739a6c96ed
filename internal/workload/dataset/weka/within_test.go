package weka

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestWithin compares the call found for every session with a search of all calls, including equal starts, ends and lengths.
func TestWithin(t *testing.T) {
	found := 0
	for seed := range uint64(300) {
		draws := rand.New(rand.NewPCG(seed, 3))
		span := 1 + draws.IntN(40)
		instant := func() float64 { return float64(draws.IntN(span)) / 4 }
		var sessions []*recordedSession
		var calls []call
		for i := range draws.IntN(30) {
			s := &recordedSession{id: strconv.Itoa(i), from: math.Inf(1), to: math.Inf(-1)} // nothing states its time
			if draws.IntN(8) > 0 {
				s.hasRounds(instant())
				s.hasRounds(instant())
			}
			sessions = append(sessions, s)
			for range draws.IntN(4) {
				from := instant()
				calls = append(calls, call{window{from, from + instant()*2, 1}, s})
			}
		}
		list := append([]call(nil), calls...)
		for i, got := range within(sessions, list) {
			s := sessions[i]
			var want *call
			for k := range calls {
				c := &calls[k]
				if c.by != s && c.from <= s.from && s.to <= c.to && (want == nil || c.shorter(want)) {
					want = c
				}
			}
			if (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Fatalf("seed %d, session %d (%v to %v): %+v, want %+v", seed, i, s.from, s.to, got, want)
			}
			if got != nil {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d sessions lie within a call", found)
	}
}
