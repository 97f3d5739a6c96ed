package custom

import (
	"context"
	"errors"
	"slices"
	"sync"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
)

// grownAhead is how many conversations are read before they are asked for: few, because one may hold pictures or sound.
const grownAhead = 64

// grown is a dataset whose conversations come while they are used, in the order in which they are read.
type grown struct {
	models *dataset.Assigner
	stop   context.CancelFunc // ends the reading

	mu   sync.Mutex
	move *sync.Cond // more conversations, more wanted, or the end
	Dataset

	asked int   // conversations that somebody asked for
	whole bool  // all are asked for
	ended bool  // no conversation comes any more
	fault error // why
}

var _ interface {
	dataset.Dataset
	dataset.Growing
	dataset.Abridged
} = (*grown)(nil)

// Grow makes a dataset of the conversations that read adds. It returns when the first is there; read goes on a little ahead of their use, until
// its context ends. The options must say that conversations are used as they stand (Early); user contexts and fetched media need all of them first.
func Grow(ctx context.Context, name string, o Options, info dataset.Info, read func(ctx context.Context, l *Loader) error) (dataset.Dataset, error) {
	l := newLoader(o, info)
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	g, err := newGrown(l, stop)
	if err != nil {
		stop()
		return nil, err
	}
	g.models = assign
	l.sink = func(c conversation.Conversation) { g.take(l, c) }
	go func() {
		defer g.stop()
		err := read(ctx, l)
		g.end(l, name, err)
	}()
	if _, err := g.Reach(0); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// newGrown is the set before anything is read. stop ends the reading.
func newGrown(l *loader, stop context.CancelFunc) (*grown, error) {
	g := &grown{stop: stop}
	g.move = sync.NewCond(&g.mu)
	g.info, g.system = l.set.info, l.Context.System
	if l.Context.SharedSystem > 0 {
		texts, err := l.sequence()
		if err != nil {
			return nil, err
		}
		g.prompts, g.system = texts, texts.Text(0)
	}
	return g, nil
}

// take adds a conversation and waits until more are wanted.
func (g *grown) take(l *loader, c conversation.Conversation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.sound(l) {
		return
	}
	g.info.Warnings = slices.Clip(l.set.info.Warnings)
	complete(&c, g.models, &g.info)
	g.conversations = append(g.conversations, c)
	g.pause()
}

// sound tells whether nothing ends the reading. The caller holds mu.
func (g *grown) sound(l *loader) bool {
	if g.fault == nil && l.faults.Count() > 0 {
		g.fault = l.faults.Err()
		g.stop()
	}
	return g.fault == nil
}

// pause tells that there is more, and waits until still more is wanted. The caller holds mu.
func (g *grown) pause() {
	g.move.Broadcast()
	for !g.whole && g.fault == nil && g.Dataset.Len() >= g.asked+grownAhead {
		g.move.Wait()
	}
}

// end notes why no conversation comes any more.
func (g *grown) end(l *loader, name string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.fault != nil:
	case err != nil:
		g.fault = err
	case l.faults.Count() > 0:
		g.fault = l.faults.Err()
	case g.Dataset.Len() == 0:
		g.fault = l.nothingLeft(name)
	}
	if errors.Is(g.fault, errAbridged) {
		g.fault = nil
	}
	g.ended = true
	g.move.Broadcast()
}

// Reach waits until conversation i is known.
func (g *grown) Reach(i int) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = max(g.asked, i+1)
	g.move.Broadcast()
	for g.Dataset.Len() <= i && !g.ended {
		g.move.Wait()
	}
	if g.Dataset.Len() > i {
		return true, nil
	}
	return false, g.fault
}

// Known is the number of conversations so far.
func (g *grown) Known() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.Len()
}

// Ordered implements dataset.Growing: rows of such a set have no times.
func (g *grown) Ordered() bool { return true }

// Len is the number of conversations; the rest is read first.
func (g *grown) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.whole = true
	g.move.Broadcast()
	for !g.ended {
		g.move.Wait()
	}
	return g.Dataset.Len() // whoever uses them is told of a fault
}

// errAbridged is why nothing more is read of a set that is left as it is.
var errAbridged = errors.New("the rest is not read")

// Abridge ends the reading: the set is what is known.
func (g *grown) Abridge() (all bool) {
	return g.cut(errAbridged)
}

// Close ends the reading.
func (g *grown) Close() error {
	g.cut(errClosed)
	return nil
}

// cut ends the reading, with a reason unless it has ended by itself. all = it had.
func (g *grown) cut(why error) (all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if all = g.ended && g.fault == nil; !g.ended && g.fault == nil {
		g.fault = why
	}
	g.stop()
	g.move.Broadcast()
	for !g.ended {
		g.move.Wait()
	}
	return all
}

// Info describes the set, as far as it is known.
func (g *grown) Info() dataset.Info {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.info
}

// Timings returns the times of conversation i.
func (g *grown) Timings(i int) []dataset.Timing {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.Timings(i)
}

// ID is the session id of conversation i.
func (g *grown) ID(i int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.ID(i)
}

// Conversation returns conversation i.
func (g *grown) Conversation(i int) *conversation.Conversation {
	c, _ := g.Draft(i)
	return c
}

// Draft returns conversation i.
func (g *grown) Draft(i int) (c *conversation.Conversation, whole bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.Draft(i)
}
