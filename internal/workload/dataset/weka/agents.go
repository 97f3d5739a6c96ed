package weka

import (
	"cmp"
	"container/heap"
	"slices"

	"aiperf/internal/base/sorting"
)

// epsilon is the difference up to which two instants count as equal, in s.
const epsilon = 1e-6

// Detection holds the rules for separating agents that were recorded in one list. The prompts of an agent grow: a request continues a chain of
// requests if its prompt begins with the last prompt of the chain. A request may share only a part of it. It is then either the same agent after it
// has shortened its context (a seam), or another agent that began with the same blocks (a fork).
type Detection struct {
	Split         bool    // the list may contain several agents; false = treat it as one
	SeamGap       float64 // s; a seam after a longer pause also needs SeamOverlap
	SeamOverlap   float64 // fraction of the blocks before the seam that must remain, 0 to 1
	AuxRequests   int     // maximum number of requests in an auxiliary call; 0 = no auxiliary calls
	AuxRatio      float64 // the input of an auxiliary call is below this fraction of the main agent's longest input,
	AuxFloor      int     // or below this number of tokens
	AuxModel      bool    // a call of another model is auxiliary, whatever its length
	ReductionOut  int     // tokens; the output of a summary is below it; 0 = no summaries
	ReductionRate float64 // and its input is more than this many times the output
	GroupMin      int     // minimum number of concurrent agents of one fork that form a group; 0 = no groups
}

// chain is the list of requests of one agent, by time.
type chain struct {
	requests []*Request
	tail     *Request // last request with hash ids, while the list is read; nil = none
	from     int      // chain from which it forked, -1 = none
	fork     *Request // last request of that chain at the fork; nil = none
	depth    int      // number of blocks shared with that request
	into     int      // chain that it was joined to, -1 = none
}

// last returns the last request with hash ids.
func (c *chain) last() *Request {
	for _, q := range slices.Backward(c.requests) {
		if len(q.ids) > 0 {
			return q
		}
	}
	return nil
}

// agents holds the chains of a list.
type agents struct {
	chains  []*chain
	chainOf map[int]int   // chain of each request, by the index of the request
	forks   map[int][]int // chains that forked from each request, by the index of that request
	tails   map[int]*Request
	main    int
	workers []int // all other chains, by their first request
}

// earlier compares requests by time.
func earlier(a, b *Request) int {
	if c := cmp.Compare(a.at, b.at); c != 0 {
		return c
	}
	return cmp.Compare(a.index, b.index)
}

// detect separates the agents of a list, which must not be empty.
func (d Detection) detect(list []*Request) *agents {
	ordered := slices.Clone(list)
	sorting.Stable(ordered, earlier)
	a := &agents{chainOf: map[int]int{}, forks: map[int][]int{}, tails: map[int]*Request{}}
	for _, q := range ordered {
		a.place(q)
	}
	d.seams(a)
	for _, c := range a.chains {
		if c.into < 0 && c.from >= 0 {
			c.from = a.live(c.from)
		}
	}
	a.main = a.live(a.chainOf[ordered[0].index])
	for i, c := range a.chains {
		if c.into < 0 && i != a.main {
			a.workers = append(a.workers, i)
		}
	}
	slices.SortFunc(a.workers, func(x, y int) int { return earlier(a.chains[x].requests[0], a.chains[y].requests[0]) })
	return a
}

// live returns the chain that a chain was joined to, or the chain itself.
func (a *agents) live(i int) int {
	for a.chains[i].into >= 0 {
		i = a.chains[i].into
	}
	return i
}

// place adds the next request to the chain that it continues, or starts a new chain. A request without hash ids cannot be assigned and goes to the
// first chain.
func (a *agents) place(q *Request) {
	if len(a.chains) == 0 {
		a.chains = append(a.chains, &chain{from: -1, into: -1})
		a.extend(0, q)
		return
	}
	if len(q.ids) == 0 {
		a.extend(0, q)
		return
	}
	if i := a.continuedChain(q); i >= 0 {
		a.extend(i, q)
		return
	}
	from, depth := a.nearest(q)
	if from < 0 && !slices.ContainsFunc(a.chains, func(c *chain) bool { return c.tail != nil }) {
		a.extend(0, q) // the first request with hash ids
		return
	}
	c := &chain{from: from, depth: depth, into: -1}
	if from >= 0 {
		c.fork = a.chains[from].tail
		a.forks[c.fork.index] = append(a.forks[c.fork.index], len(a.chains))
		a.tails[c.fork.index] = c.fork
	}
	a.chains = append(a.chains, c)
	a.extend(len(a.chains)-1, q)
}

func (a *agents) extend(i int, q *Request) {
	c := a.chains[i]
	c.requests = append(c.requests, q)
	a.chainOf[q.index] = i
	if len(q.ids) > 0 {
		c.tail = q
	}
}

// continuedChain returns the longest chain that a request continues, -1 = none. The request must begin with the last prompt of the chain, use the same model,
// and start after its answer.
func (a *agents) continuedChain(q *Request) int {
	best, longest := -1, 0
	for i, c := range a.chains {
		if c.tail == nil || c.tail.model != q.model || c.tail.end() > q.at+epsilon {
			continue
		}
		n := len(c.tail.ids)
		if n <= longest || n > len(q.ids) || c.tail.ids[n-1] != q.ids[n-1] || commonBlocks(c.tail.ids, q.ids) < n {
			continue
		}
		best, longest = i, n
	}
	return best
}

// nearest returns the chain whose last prompt shares the most blocks with a request, -1 = none. Of several, it returns the one with the longest
// prompt.
func (a *agents) nearest(q *Request) (at, depth int) {
	at = -1
	for i, c := range a.chains {
		if c.tail == nil {
			continue
		}
		n := commonBlocks(c.tail.ids, q.ids)
		if n > depth || n == depth && n > 0 && len(c.tail.ids) > len(a.chains[at].tail.ids) {
			at, depth = i, n
		}
	}
	return at, depth
}

// commonBlocks returns the number of common blocks at the start of two prompts.
func commonBlocks(a, b []int64) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// smallest is a min-heap of indices.
type smallest []int

func (h smallest) Len() int           { return len(h) }
func (h smallest) Less(i, j int) bool { return h[i] < h[j] }
func (h smallest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface. x is an int.
func (h *smallest) Push(x any) { *h = append(*h, x.(int)) }

// Pop implements heap.Interface.
func (h *smallest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// seams joins chains of the same agent. If no request continues the longer prompt, the fork that shares the most with it is its continuation.
func (d Detection) seams(a *agents) {
	open := &smallest{}
	for tail := range a.forks {
		*open = append(*open, tail)
	}
	heap.Init(open)
	done := map[int]bool{}
	for open.Len() > 0 {
		tail := a.tails[heap.Pop(open).(int)]
		if done[tail.index] {
			continue
		}
		done[tail.index] = true
		owner := a.live(a.chainOf[tail.index])
		if a.chains[owner].last() != tail {
			continue // it was continued: all its forks are other agents
		}
		var forks []int
		for _, i := range a.forks[tail.index] {
			if a.chains[i].into < 0 {
				forks = append(forks, i)
			}
		}
		elected := d.elect(a, forks, tail)
		if elected < 0 {
			continue
		}
		a.join(owner, elected)
		if end := a.chains[owner].last(); a.forkAgain(forks, elected, owner, end) {
			done[end.index] = false
			heap.Push(open, end.index)
		}
	}
}

// elect returns the fork that continues a chain after tail, -1 = none. It must use the same model and start after the answer of tail. It must not be a
// distant session with a similar start. Of several, it returns the one that shares the most, then the earliest.
func (d Detection) elect(a *agents, forks []int, tail *Request) int {
	best := -1
	for _, i := range forks {
		c := a.chains[i]
		first := c.requests[0]
		pause := first.at - tail.end()
		distant := pause > d.SeamGap && float64(c.depth)/float64(len(tail.ids)) < d.SeamOverlap
		if c.depth == 0 || pause < -epsilon || first.model != tail.model || distant {
			continue
		}
		if best < 0 || c.depth > a.chains[best].depth || c.depth == a.chains[best].depth && first.at < a.chains[best].requests[0].at {
			best = i
		}
	}
	return best
}

// join appends a chain to another one.
func (a *agents) join(owner, i int) {
	o, c := a.chains[owner], a.chains[i]
	o.requests = append(o.requests, c.requests...)
	for _, q := range c.requests {
		a.chainOf[q.index] = owner
	}
	c.into = owner
}

// forkAgain compares the other forks of a tail with the new end of its chain. It reports whether some share blocks with it.
func (a *agents) forkAgain(forks []int, elected, owner int, end *Request) (some bool) {
	for _, i := range forks {
		c := a.chains[i]
		if i == elected || c.into >= 0 {
			continue
		}
		if depth := commonBlocks(end.ids, c.requests[0].ids); depth > 0 {
			c.from, c.fork, c.depth = owner, end, depth
			a.forks[end.index] = append(a.forks[end.index], i)
			a.tails[end.index] = end
			some = true
		}
	}
	return some
}

// shortOutput is the maximum length of an answer that is a title, in tokens.
const shortOutput = 64

// preamble removes an unrelated call from the front of a list, for example one that generates a title. It must not be taken for the main agent. Such a
// call shares no first block with another request, and is short or shares no block at all. first is nil if there is none.
func preamble(list []*Request) (first *Request, rest []*Request) {
	if len(list) < 2 {
		return nil, list
	}
	first = slices.MinFunc(list, earlier)
	if len(first.ids) == 0 {
		return nil, list
	}
	for _, q := range list {
		if q != first && commonBlocks(first.ids, q.ids) > 0 {
			return nil, list
		}
	}
	if first.out > shortOutput {
		own := map[int64]bool{}
		for _, id := range first.ids {
			own[id] = true
		}
		for _, q := range list {
			if q != first && slices.ContainsFunc(q.ids, func(id int64) bool { return own[id] }) {
				return nil, list
			}
		}
	}
	return first, slices.DeleteFunc(slices.Clone(list), func(q *Request) bool { return q == first })
}
