package mockserver

import (
	"container/heap"
	"runtime"
	"sync"
	"time"

	"aiperf/internal/clock"
)

// pacer writes every event at its absolute instant, for all its streams, from one goroutine on one thread: no timer and no goroutine of its
// own for a stream, so that hundreds of streams do not make each other late. A stream whose socket is full goes back to its connection.
type pacer struct {
	waiter clock.Waiter

	mu      sync.Mutex
	queue   byInstant
	stopped bool
}

// newPacers makes one pacer for every four processors, at most eight: one writes some 80,000 events a second.
func newPacers() []*pacer {
	list := make([]*pacer, min(max(runtime.GOMAXPROCS(0)/4, 1), 8))
	for i := range list {
		list[i] = &pacer{waiter: clock.NewThriftyWaiter()}
	}
	return list
}

// run paces until stop; then every stream goes back.
func (p *pacer) run() {
	p.waiter.Attach()
	defer p.waiter.Detach()
	for {
		st, at, ok := p.take()
		switch {
		case !ok:
			return
		case st == nil:
			p.waiter.Until(at)
			continue
		}
		st.step(false)
		if st.over || len(st.rest) > 0 {
			st.back <- struct{}{}
			continue
		}
		p.mu.Lock()
		heap.Push(&p.queue, st)
		p.mu.Unlock()
	}
}

// take gives the stream whose event is due, or none and the instant at which to look again; false = stopped.
func (p *pacer) take() (*stream, int64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		for _, st := range p.queue {
			st.over, st.failed = true, outcomeShutdown
			st.back <- struct{}{}
		}
		p.queue = nil
		return nil, 0, false
	}
	now := clock.Now()
	if len(p.queue) == 0 {
		return nil, now + int64(time.Hour), true
	}
	if p.queue[0].next > now {
		return nil, p.queue[0].next, true
	}
	return heap.Pop(&p.queue).(*stream), 0, true
}

// add hands a stream over; false = the pacer has stopped.
func (p *pacer) add(st *stream) bool {
	p.mu.Lock()
	if p.stopped {
		p.mu.Unlock()
		return false
	}
	heap.Push(&p.queue, st)
	first := p.queue[0] == st
	p.mu.Unlock()
	if first {
		p.waiter.Wake()
	}
	return true
}

func (p *pacer) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.waiter.Wake()
}

// byInstant is a heap of streams, the one that is due first on top.
type byInstant []*stream

func (q byInstant) Len() int           { return len(q) }
func (q byInstant) Less(i, j int) bool { return q[i].next < q[j].next }
func (q byInstant) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *byInstant) Push(x any)        { *q = append(*q, x.(*stream)) }
func (q *byInstant) Pop() any {
	old := *q
	st := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return st
}
