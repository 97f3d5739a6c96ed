package weka

import (
	"cmp"
	"container/heap"
	"slices"
)

// epsilon is the difference of instants that is none, s.
const epsilon = 1e-6

// Detection says how agents are told apart that were recorded in one list. An agent's prompts grow: a request goes on from a chain of requests
// whose last prompt it begins with. One that shares only a part of it is either the same agent after it has shortened its context (a seam), or
// another agent that began with the same blocks (a fork).
type Detection struct {
	Split         bool    // the list holds several agents; false = it is taken for one
	SeamGap       float64 // s: a seam after a longer pause needs SeamOverlap
	SeamOverlap   float64 // share of the blocks before the seam that are kept, 0 to 1
	AuxRequests   int     // most requests of an auxiliary call; 0 = there are none
	AuxRatio      float64 // an auxiliary call's input is below this share of the main agent's longest one,
	AuxFloor      int     // or below so many tokens
	AuxModel      bool    // a call of another model is auxiliary whatever its length
	ReductionOut  int     // output of a summary is below so many tokens; 0 = there are none
	ReductionRate float64 // and its input is more than so many times the output
	GroupMin      int     // agents of one fork that run at once are a group from so many on; 0 = there are none
}

// chain is the requests of one agent, in the order of time.
type chain struct {
	requests []*Request
	tail     *Request // the last one with hash ids, while the list is read; nil = none
	from     int      // chain that it forked from, -1 = none
	fork     *Request // the tail that it forked from, nil = none
	depth    int      // blocks that it shares with that
	into     int      // chain that it turned out to be part of, -1 = none
}

// last is the last request with hash ids.
func (c *chain) last() *Request {
	for _, q := range slices.Backward(c.requests) {
		if len(q.ids) > 0 {
			return q
		}
	}
	return nil
}

// agents are the chains of a list.
type agents struct {
	chains  []*chain
	of      map[int]int   // request, by its index -> chain
	forks   map[int][]int // tail, by its index -> chains that forked from it
	tails   map[int]*Request
	main    int
	workers []int // other chains, by their first request
}

// earlier orders requests by time.
func earlier(a, b *Request) int {
	if c := cmp.Compare(a.at, b.at); c != 0 {
		return c
	}
	return cmp.Compare(a.index, b.index)
}

// detect tells the agents of a list apart, which is not empty.
func (d Detection) detect(list []*Request) *agents {
	ordered := slices.Clone(list)
	slices.SortStableFunc(ordered, earlier)
	a := &agents{of: map[int]int{}, forks: map[int][]int{}, tails: map[int]*Request{}}
	for _, q := range ordered {
		a.place(q)
	}
	d.seams(a)
	for _, c := range a.chains {
		if c.into < 0 && c.from >= 0 {
			c.from = a.live(c.from)
		}
	}
	a.main = a.live(a.of[ordered[0].index])
	for i, c := range a.chains {
		if c.into < 0 && i != a.main {
			a.workers = append(a.workers, i)
		}
	}
	slices.SortFunc(a.workers, func(x, y int) int { return earlier(a.chains[x].requests[0], a.chains[y].requests[0]) })
	return a
}

// live is the chain that a chain is part of now.
func (a *agents) live(i int) int {
	for a.chains[i].into >= 0 {
		i = a.chains[i].into
	}
	return i
}

// place puts the next request into the chain that it goes on from, or begins a chain. One without hash ids tells nothing and stays with the
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
	if i := a.goesOn(q); i >= 0 {
		a.extend(i, q)
		return
	}
	from, depth := a.nearest(q)
	if from < 0 && !slices.ContainsFunc(a.chains, func(c *chain) bool { return c.tail != nil }) {
		a.extend(0, q) // the first that tells something
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
	a.of[q.index] = i
	if len(q.ids) > 0 {
		c.tail = q
	}
}

// goesOn is the chain whose last prompt a request begins with: of the same model, answered by then, the longest; -1 = none.
func (a *agents) goesOn(q *Request) int {
	best, longest := -1, 0
	for i, c := range a.chains {
		if c.tail == nil || c.tail.model != q.model || c.tail.end() > q.at+epsilon {
			continue
		}
		n := len(c.tail.ids)
		if n <= longest || n > len(q.ids) || c.tail.ids[n-1] != q.ids[n-1] || shared(c.tail.ids, q.ids) < n {
			continue
		}
		best, longest = i, n
	}
	return best
}

// nearest is the chain whose last prompt shares the most blocks with a request, of several the one with the longest prompt; -1 = none shares any.
func (a *agents) nearest(q *Request) (at, depth int) {
	at = -1
	for i, c := range a.chains {
		if c.tail == nil {
			continue
		}
		n := shared(c.tail.ids, q.ids)
		if n > depth || n == depth && n > 0 && len(c.tail.ids) > len(a.chains[at].tail.ids) {
			at, depth = i, n
		}
	}
	return at, depth
}

// shared is the number of blocks that two prompts begin with.
func shared(a, b []int64) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// smallest is a heap of indices.
type smallest []int

func (h smallest) Len() int           { return len(h) }
func (h smallest) Less(i, j int) bool { return h[i] < h[j] }
func (h smallest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds x, an int.
func (h *smallest) Push(x any) { *h = append(*h, x.(int)) }

// Pop takes the last one.
func (h *smallest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// seams joins chains that are the same agent: where nothing went on from the longer prompt, the fork that shares the most with it did.
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
		owner := a.live(a.of[tail.index])
		if a.chains[owner].last() != tail {
			continue // it went on: all forks are agents of their own
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

// elect is the fork that goes on from a tail: of the same model, begun when the tail was answered, not a distant session that happens to begin
// alike; of several the one that shares the most, then the earliest. -1 = none.
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

// join makes a chain the continuation of another.
func (a *agents) join(owner, i int) {
	o, c := a.chains[owner], a.chains[i]
	o.requests = append(o.requests, c.requests...)
	for _, q := range c.requests {
		a.of[q.index] = owner
	}
	c.into = owner
}

// forkAgain compares the other forks of a tail with the end of the chain that it has become part of. It tells whether some share blocks with it.
func (a *agents) forkAgain(forks []int, elected, owner int, end *Request) (some bool) {
	for _, i := range forks {
		c := a.chains[i]
		if i == elected || c.into >= 0 {
			continue
		}
		if depth := shared(end.ids, c.requests[0].ids); depth > 0 {
			c.from, c.fork, c.depth = owner, end, depth
			a.forks[end.index] = append(a.forks[end.index], i)
			a.tails[end.index] = end
			some = true
		}
	}
	return some
}

// shortOutput is the length of the longest answer of a call that makes a title, in tokens.
const shortOutput = 64

// preamble takes a call off the front of a list that has nothing to do with what follows, such as one that makes a title: it must not pass for
// the main agent. It shares no first block with another request, and is short or shares no block at all. nil = there is none.
func preamble(list []*Request) (first *Request, rest []*Request) {
	if len(list) < 2 {
		return nil, list
	}
	first = slices.MinFunc(list, earlier)
	if len(first.ids) == 0 {
		return nil, list
	}
	for _, q := range list {
		if q != first && shared(first.ids, q.ids) > 0 {
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
