package weka

import (
	"cmp"
	"fmt"
	"slices"

	"aiperf/internal/base/sorting"
)

// stream is the list of requests of one agent, with the id of its session.
type stream struct {
	id           string
	requests     []*Request
	tool, system int
}

// split separates the agents of a list: the main one, whose session gets id, and others. tool and system are the tokens of a common first message.
// They apply only to agents whose prompts provably begin with it.
func (d Detection) split(id, separator string, list []*Request, tool, system, block int) (main stream, others []stream) {
	main = stream{id: id, requests: slices.Clone(list), tool: tool, system: system}
	sorting.Stable(main.requests, earlier)
	if !d.Split || len(list) == 0 {
		return main, nil
	}
	first, rest := preamble(list)
	a := d.detect(rest)
	if len(a.workers) == 0 {
		return main, nil
	}
	detected := a.chains[a.main].requests
	main.requests = slices.Clone(detected)
	if first != nil {
		main.requests = append(main.requests, first)
		sorting.Stable(main.requests, earlier)
	}
	groups := d.groups(a)
	for n, i := range a.workers {
		c := a.chains[i]
		s := stream{id: id + separator + d.suffix(n, c, detected, groups[i]), requests: c.requests}
		if begins(c.requests, detected, tool+system, block) {
			s.tool, s.system = tool, system
		}
		others = append(others, s)
	}
	return main, others
}

// begins reports whether the first prompt of a chain begins with the blocks of the main agent's first message.
func begins(list, main []*Request, tokens, block int) bool {
	n := (tokens + block - 1) / block
	a, b := firstIDs(list), firstIDs(main)
	return n > 0 && len(a) >= n && commonBlocks(a, b) >= n
}

func firstIDs(list []*Request) []int64 {
	for _, q := range list {
		if len(q.ids) > 0 {
			return q.ids
		}
	}
	return nil
}

// suffix returns the name of the n-th agent besides the main one: aux for an auxiliary call, wg for a member of a group, fa for any other.
func (d Detection) suffix(n int, c *chain, main []*Request, g *member) string {
	switch {
	case d.auxiliary(c.requests, main) || d.reduces(c.requests):
		return fmt.Sprintf("aux:%03d", n)
	case g != nil:
		return fmt.Sprintf("wg:%03d_%03d", g.group, g.place)
	}
	return fmt.Sprintf("fa:%03d", n)
}

// auxiliary reports whether a chain is an auxiliary call: few requests, with another model than the main agent's or a short prompt.
func (d Detection) auxiliary(list, main []*Request) bool {
	if len(list) > d.AuxRequests {
		return false
	}
	if d.AuxModel && list[0].model != main[0].model {
		return true
	}
	longest := 0
	for _, q := range main {
		longest = max(longest, q.in)
	}
	return list[0].in < max(d.AuxFloor, int(d.AuxRatio*float64(longest)))
}

// reduces reports whether a chain is a summary: one call with a long input and a short output.
func (d Detection) reduces(list []*Request) bool {
	q := list[0]
	return len(list) == 1 && q.out > 0 && q.out < d.ReductionOut && q.in >= d.AuxFloor && float64(q.in) > d.ReductionRate*float64(q.out)
}

// member is the position of a chain in a group: agents that forked from one prompt and ran at the same time.
type member struct{ group, place int }

// span is the time in which a chain ran.
type span struct {
	chain    int
	first    *Request
	from, to float64
}

// groups returns the group membership of chains.
func (d Detection) groups(a *agents) map[int]*member {
	out := map[int]*member{}
	if d.GroupMin <= 0 {
		return out
	}
	type point struct{ chain, tail int }
	forks := map[point][]span{}
	for _, i := range a.workers {
		c := a.chains[i]
		if c.fork == nil || c.depth == 0 {
			continue
		}
		s := span{i, c.requests[0], c.requests[0].at, c.requests[0].end()}
		for _, q := range c.requests {
			s.to = max(s.to, q.end())
		}
		at := point{c.from, c.fork.index}
		forks[at] = append(forks[at], s)
	}
	var groups [][]span
	for _, list := range forks {
		for _, g := range overlapSets(list) {
			if len(g) >= d.GroupMin {
				groups = append(groups, g)
			}
		}
	}
	sorting.Sort(groups, func(x, y []span) int { return earlier(x[0].first, y[0].first) })
	for i, g := range groups {
		for k, s := range g {
			out[s.chain] = &member{i, k}
		}
	}
	return out
}

// overlapSets splits spans into sets that overlap, directly or through others. Each set is sorted by time.
func overlapSets(list []span) (parts [][]span) {
	sorting.Sort(list, func(x, y span) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.first.index, y.first.index))
	})
	end := 0.0
	for i, s := range list {
		if i == 0 || s.from >= end {
			parts = append(parts, nil)
			end = s.to
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], s)
		end = max(end, s.to)
	}
	return parts
}
