package load

import (
	"context"
	"iter"
	"slices"
	"sync"
)

const (
	prefetchDepth = 128 // minimum number of conversations that the prefetcher keeps ready
	prefetchBatch = 8   // number of missing ones at which it is woken
)

// sample is a sampled conversation.
type sample struct {
	index int32 // of the conversation
	pass  int32 // how often it was drawn in the run, with this draw; 0 = the machine counts itself
	shape Shape
	// session is the number of its session in the run, from 1, with several machines; 0 = the machine counts itself.
	session int64
}

// prefetcher takes conversations from the source in sampling order, a little ahead of their use, in its own goroutine. It lives as long as the run:
// conversations that one phase does not use go to the next.
type prefetcher struct {
	source Source
	notify func() // called when a conversation arrives after take found none

	mu      sync.Mutex
	next    func() (sample, bool) // the next conversation without its shape; false = there are no more
	starts  int                   // number of calls of restart
	ready   []sample
	depth   int
	left    int64 // number of conversations that can still be used; the prefetcher takes no more
	taken   int64 // number of conversations that were used since the last restart
	starved bool
	ended   bool // no further conversation will come
	err     error
	more    chan struct{}
}

func newPrefetcher(source Source, next func() (sample, bool), most int64, notify func()) *prefetcher {
	return &prefetcher{source: source, next: next, notify: notify, depth: prefetchDepth, left: most, more: make(chan struct{}, 1)}
}

// draws returns the largest number of conversations that a scenario can use.
func draws(phases []Phase, share Share) int64 {
	sum := int64(0)
	for i := range phases {
		p := &phases[i]
		if p.Mode == FixedSchedule { // it uses every entry once, with its own prefetcher
			continue
		}
		if p.Mode == AgenticReplay { // its lanes are filled before anything is sent, and some conversations cannot be entered
			return never
		}
		if p.Mode == UserCentric && !share.whole() { // it follows the users of all machines
			return never
		}
		most := int64(never)
		for _, limit := range []int64{p.Requests, p.Sessions} {
			if limit > 0 {
				most = min(most, limit)
			}
		}
		if p.Mode == UserCentric { // the first users are drawn whether or not they send anything
			most = max(most, int64(p.Users)+1)
		}
		if most > never/2-sum {
			return never
		}
		sum += most
	}
	return sum
}

// run fills the prefetcher until the context ends.
func (f *prefetcher) run(ctx context.Context) {
	for {
		f.mu.Lock()
		full := len(f.ready) >= f.depth || f.left <= 0
		next, starts := f.next, f.starts
		if !full {
			f.left--
		}
		f.mu.Unlock()
		if full {
			select {
			case <-f.more:
				continue
			case <-ctx.Done():
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		var err error
		d, more := next()
		if more {
			d.shape, err = f.source.Shape(int(d.index))
		}
		f.mu.Lock()
		switch {
		case f.starts != starts: // it is of the sequence before
			f.mu.Unlock()
			continue
		case err != nil:
			f.err = err
		case more:
			f.ready = append(f.ready, d)
		}
		f.ended = !more
		hungry := f.starved
		f.starved = false
		f.mu.Unlock()
		if hungry {
			f.notify()
		}
		if err != nil || !more {
			return
		}
	}
}

// take returns the next conversation if one is ready. The error is the source's.
func (f *prefetcher) take() (sample, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ready) == 0 {
		f.starved = true
		return sample{}, false, f.err
	}
	d := f.ready[0]
	f.ready = f.ready[1:]
	f.taken++
	if len(f.ready) <= f.depth-prefetchBatch {
		f.wake()
	}
	return d, true, nil
}

// head returns the next conversation without removing it. more = there is one, or there may be one later.
func (f *prefetcher) head() (next sample, ready, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ready) > 0 {
		return f.ready[0], true, true
	}
	return sample{}, false, !f.ended
}

// times returns the start times of the conversations that are ready.
func (f *prefetcher) times() iter.Seq[float64] {
	f.mu.Lock()
	ready := slices.Clone(f.ready)
	f.mu.Unlock()
	return func(yield func(float64) bool) {
		for _, d := range ready {
			if turns := d.shape.Turns; len(turns) > 0 && turns[0].Timestamp != nil && !yield(*turns[0].Timestamp) {
				return
			}
		}
	}
}

// restart makes the prefetcher forget what it has ready, and continue with another sequence of at most most conversations.
func (f *prefetcher) restart(next func() (sample, bool), most int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next, f.left, f.ready, f.taken = next, most, nil, 0
	f.starts++
	f.wake()
}

// putBack returns conversations that were taken but not used, in the order in which they were taken.
func (f *prefetcher) putBack(list []sample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = append(list, f.ready...)
	f.taken -= int64(len(list))
}

// used returns how many conversations were taken and not put back since the last restart.
func (f *prefetcher) used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken
}

// grant adds to the number of conversations that can be used.
func (f *prefetcher) grant(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left += n
	f.wake()
}

// deepen makes the prefetcher keep at least n conversations ready, and never fewer than prefetchDepth.
func (f *prefetcher) deepen(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.depth = max(prefetchDepth, n)
	f.wake()
}

// wake makes the filling goroutine check again.
func (f *prefetcher) wake() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}
