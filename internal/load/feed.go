package load

import (
	"context"
	"sync"
)

// feedDepth is how many conversations the feed keeps ready at the least.
const feedDepth = 64

// draw is a sampled conversation.
type draw struct {
	index int
	shape Shape
}

// feed takes conversations from the source in sampling order, a little ahead of their use, on a goroutine of its own. It lives as long as
// the run: what one phase does not use is there for the next.
type feed struct {
	source Source
	next   func() int
	notify func() // something has come after the feed was found empty

	mu      sync.Mutex
	ready   []draw
	depth   int
	starved bool
	err     error
	more    chan struct{}
}

func newFeed(source Source, next func() int, notify func()) *feed {
	return &feed{source: source, next: next, notify: notify, depth: feedDepth, more: make(chan struct{}, 1)}
}

// run fills the feed until the context ends.
func (f *feed) run(ctx context.Context) {
	for {
		f.mu.Lock()
		full := len(f.ready) >= f.depth
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
		d := draw{index: f.next()}
		var err error
		d.shape, err = f.source.Shape(d.index)
		f.mu.Lock()
		if err != nil {
			f.err = err
		} else {
			f.ready = append(f.ready, d)
		}
		hungry := f.starved
		f.starved = false
		f.mu.Unlock()
		if hungry {
			f.notify()
		}
		if err != nil {
			return
		}
	}
}

// take returns the next conversation, if one is ready. The error is the source's.
func (f *feed) take() (draw, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ready) == 0 {
		f.starved = true
		return draw{}, false, f.err
	}
	d := f.ready[0]
	f.ready = f.ready[1:]
	f.wake()
	return d, true, nil
}

// putBack returns conversations that were taken and not used, in the order in which they were taken.
func (f *feed) putBack(list []draw) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = append(list, f.ready...)
}

// deepen makes the feed keep at least n conversations ready.
func (f *feed) deepen(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.depth = max(f.depth, n)
	f.wake()
}

// wake tells the filling goroutine to look again.
func (f *feed) wake() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}
