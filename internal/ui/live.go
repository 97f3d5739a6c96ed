package ui

import (
	"math"
	"slices"
	"sync"
)

// recent is how many answers the live medians are taken over.
const recent = 512

// Live gathers what finished requests tell, for the line that is shown while a run goes on. Its methods may be called by several goroutines.
type Live struct {
	mu            sync.Mutex
	phase         int
	tokens        int64
	ttft, latency ring
}

// Add counts one valid answer of a phase: the time to its first token and its latency in ns, and its output tokens; NaN = there is none.
func (l *Live) Add(phase int, ttft, latency, tokens float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case phase < l.phase: // a late answer of a phase that is over
		return
	case phase > l.phase:
		l.phase, l.tokens, l.ttft, l.latency = phase, 0, ring{}, ring{}
	}
	l.ttft.add(ttft)
	l.latency.add(latency)
	if !math.IsNaN(tokens) {
		l.tokens += int64(tokens)
	}
}

// Fill puts the figures of a phase into its snapshot.
func (l *Live) Fill(phase int, s *Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if phase == l.phase {
		s.Tokens, s.TTFT, s.Latency = l.tokens, l.ttft.median(), l.latency.median()
	}
}

// ring is the last values of a series.
type ring struct {
	values []float64
	next   int
}

func (r *ring) add(v float64) {
	switch {
	case math.IsNaN(v):
	case len(r.values) < recent:
		r.values = append(r.values, v)
	default:
		r.values[r.next] = v
		r.next = (r.next + 1) % recent
	}
}

// median is exact; 0 of no values.
func (r *ring) median() float64 {
	if len(r.values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
