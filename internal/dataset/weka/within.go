package weka

import (
	"cmp"
	"slices"
	"sort"
)

// call is the call of a tool by a session.
type call struct {
	window
	by *recorded
}

// shorter tells whether a call comes before another one where both may have started an agent.
func (c *call) shorter(other *call) bool {
	return cmp.Or(cmp.Compare(c.to-c.from, other.to-other.from), cmp.Compare(c.from, other.from), cmp.Compare(c.by.id, other.by.id)) < 0
}

// shortest are the shortest of some calls by two sessions, so that one is left for a session that made the other.
type shortest [2]*call

func (s *shortest) add(c *call) {
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

// within finds for every session the shortest call of another one that it lies within, nil = none. The time is that of sorting.
//
// Sessions and calls are gone through by their beginnings, so that the calls so far are those that began in time. Of these a binary indexed tree tells the
// shortest that ended in time: its places are the ends, the latest first.
func within(sessions []*recorded, calls []call) []*call {
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.from, b.from) })
	ends := make([]float64, len(calls))
	for i := range calls {
		ends[i] = calls[i].to
	}
	slices.SortFunc(ends, func(a, b float64) int { return cmp.Compare(b, a) })
	tree := make([]shortest, len(ends)+1)
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
		var best shortest
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
