package weka

import (
	"cmp"
	"slices"
	"sort"

	"aiperf/internal/base/sorting"
)

// call is a tool call of a session.
type call struct {
	window
	by *recordedSession
}

// shorter reports whether a call is preferred to another one if both may have started an agent.
func (c *call) shorter(other *call) bool {
	return cmp.Or(cmp.Compare(c.to-c.from, other.to-other.from), cmp.Compare(c.from, other.from), cmp.Compare(c.by.id, other.by.id)) < 0
}

// shortestCalls holds the shortest calls of two different sessions, so that one remains for a session that made the other.
type shortestCalls [2]*call

func (s *shortestCalls) add(c *call) {
	switch {
	case s[0] == nil:
		s[0] = c
	case s[0].by == c.by:
		if c.shorter(s[0]) {
			s[0] = c
		}
	case c.shorter(s[0]):
		s[0], s[1] = c, s[0]
	case s[1] == nil || c.shorter(s[1]):
		s[1] = c
	}
}

// within returns for every session the shortest call of another session that contains it, nil = none. It takes O(n log n) time.
//
// It visits sessions and calls by start time, so that all calls visited so far began in time. A binary indexed tree over the end times, latest first,
// returns the shortest of those that ended in time.
func within(sessions []*recordedSession, calls []call) []*call {
	sorting.Stable(calls, func(a, b call) int { return cmp.Compare(a.from, b.from) })
	ends := make([]float64, len(calls))
	for i := range calls {
		ends[i] = calls[i].to
	}
	slices.SortFunc(ends, func(a, b float64) int { return cmp.Compare(b, a) })
	tree := make([]shortestCalls, len(ends)+1)
	order := make([]int, len(sessions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(sessions[a].from, sessions[b].from) })
	found, next := make([]*call, len(sessions)), 0
	for _, i := range order {
		s := sessions[i]
		for ; next < len(calls) && calls[next].from <= s.from; next++ {
			c := &calls[next]
			at := sort.Search(len(ends), func(k int) bool { return ends[k] <= c.to }) + 1
			for ; at < len(tree); at += at & -at {
				tree[at].add(c)
			}
		}
		var best shortestCalls
		for at := sort.Search(len(ends), func(k int) bool { return ends[k] < s.to }); at > 0; at -= at & -at {
			for _, c := range tree[at] {
				if c != nil && c.by != s {
					best.add(c)
				}
			}
		}
		found[i] = best[0]
	}
	return found
}
