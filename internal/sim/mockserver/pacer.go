package mockserver

import (
	"container/heap"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
)

// pacer writes every event of its streams at its absolute instant, from one goroutine on one thread. Streams need no timer and no goroutine, so that
// hundreds of streams do not delay each other. A stream whose socket is full returns to its connection's goroutine.
type pacer struct {
	waiter clock.Waiter

	mu      sync.Mutex
	queue   streamHeap
	stopped bool
}

// newPacers makes one pacer for every four CPUs, at most eight: one writes some 80,000 events a second.
func newPacers() []*pacer {
	list := make([]*pacer, min(max(processors.Cores()/4, 1), 8))
	for i := range list {
		list[i] = &pacer{waiter: clock.NewSleepingWaiter()}
	}
	return list
}

// run paces the streams until stop, and then returns every stream to its connection.
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
		if st.ended || len(st.unsent) > 0 {
			st.returned <- struct{}{}
			continue
		}
		p.mu.Lock()
		heap.Push(&p.queue, st)
		p.mu.Unlock()
	}
}

// take returns the stream whose event is due, or nil and the instant at which to check again; false = stopped.
func (p *pacer) take() (*stream, int64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		for _, st := range p.queue {
			st.ended, st.failed = true, outcomeShutdown
			st.returned <- struct{}{}
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

// add passes a stream to the pacer; false = the pacer has stopped.
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

// streamHeap is a heap of streams by the instant at which they are due.
type streamHeap []*stream

func (q streamHeap) Len() int           { return len(q) }
func (q streamHeap) Less(i, j int) bool { return q[i].next < q[j].next }
func (q streamHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *streamHeap) Push(x any)        { *q = append(*q, x.(*stream)) }
func (q *streamHeap) Pop() any {
	old := *q
	st := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return st
}
