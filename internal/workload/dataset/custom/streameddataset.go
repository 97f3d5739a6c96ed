package custom

import (
	"context"
	"errors"
	"slices"
	"sync"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// conversationsAhead is the number of conversations that are read before they are requested. It is small, because one may contain images or audio.
const conversationsAhead = 64

// streamedDataset is a dataset whose conversations are read while it is used, in the order of the source.
type streamedDataset struct {
	models *dataset.Assigner
	stop   context.CancelFunc // stops the reading

	mu      sync.Mutex
	changed *sync.Cond // signals new conversations, new requests, or the end
	Dataset

	requested    int   // number of conversations requested
	allRequested bool  // all conversations are requested
	ended        bool  // no more conversations will come
	fault        error // reason of the end
}

var _ interface {
	dataset.Dataset
	dataset.OpenEnded
	dataset.PartiallyRead
} = (*streamedDataset)(nil)

// Grow builds a dataset from the conversations that read adds. It returns when the first one was added. read continues a little ahead of their use,
// until its context ends. The options must allow use in file order (Early). User contexts and downloaded media are not possible, because they need all
// conversations first.
func Grow(ctx context.Context, name string, o Options, info dataset.Info, read func(ctx context.Context, l *Loader) error) (dataset.Dataset, error) {
	l := newLoader(o, info)
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	g, err := newStreamedDataset(l, stop)
	if err != nil {
		stop()
		return nil, err
	}
	g.models = assign
	l.sink = func(c conversation.Conversation) { g.addAndWait(l, c) }
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

// newStreamedDataset returns the dataset before anything is read. stop stops the reading.
func newStreamedDataset(l *loader, stop context.CancelFunc) (*streamedDataset, error) {
	g := &streamedDataset{stop: stop}
	g.changed = sync.NewCond(&g.mu)
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

// addAndWait adds a conversation and waits until more are wanted.
func (g *streamedDataset) addAndWait(l *loader, c conversation.Conversation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.canContinue(l) {
		return
	}
	g.info.Warnings = slices.Clip(l.set.info.Warnings)
	complete(&c, g.models, &g.info)
	g.conversations = append(g.conversations, c)
	g.pause()
}

// canContinue reports whether the reading can continue. The caller holds mu.
func (g *streamedDataset) canContinue(l *loader) bool {
	if g.fault == nil && l.faults.Count() > 0 {
		g.fault = l.faults.Err()
		g.stop()
	}
	return g.fault == nil
}

// pause signals that there is more, and waits until more is requested. The caller holds mu.
func (g *streamedDataset) pause() {
	g.changed.Broadcast()
	for !g.allRequested && g.fault == nil && g.Dataset.Len() >= g.requested+conversationsAhead {
		g.changed.Wait()
	}
}

// end records why no more conversations come.
func (g *streamedDataset) end(l *loader, name string, err error) {
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
	g.changed.Broadcast()
}

// Reach waits until conversation i has been read.
func (g *streamedDataset) Reach(i int) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requested = max(g.requested, i+1)
	g.changed.Broadcast()
	for g.Dataset.Len() <= i && !g.ended {
		g.changed.Wait()
	}
	if g.Dataset.Len() > i {
		return true, nil
	}
	return false, g.fault
}

// Known returns the number of conversations so far.
func (g *streamedDataset) Known() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.Len()
}

// Ordered implements dataset.OpenEnded. Rows of such a dataset have no times.
func (g *streamedDataset) Ordered() bool { return true }

// Len returns the number of conversations. It waits until the rest is read.
func (g *streamedDataset) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allRequested = true
	g.changed.Broadcast()
	for !g.ended {
		g.changed.Wait()
	}
	return g.Dataset.Len() // an error is reported to whoever uses the rows
}

// errAbridged is the reason of the end after Abridge.
var errAbridged = errors.New("reading stopped early")

// Abridge stops the reading. The dataset is what was read so far.
func (g *streamedDataset) Abridge() (all bool) {
	return g.stopReading(errAbridged)
}

// Close stops the reading.
func (g *streamedDataset) Close() error {
	g.stopReading(errClosed)
	return nil
}

// stopReading stops the reading and records the reason, unless the reading has ended. all = everything had been read without error.
func (g *streamedDataset) stopReading(why error) (all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if all = g.ended && g.fault == nil; !g.ended && g.fault == nil {
		g.fault = why
	}
	g.stop()
	g.changed.Broadcast()
	for !g.ended {
		g.changed.Wait()
	}
	return all
}

// Info describes the dataset, as far as it was read.
func (g *streamedDataset) Info() dataset.Info {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.info
}

// Timings returns the send times of conversation i.
func (g *streamedDataset) Timings(i int) []dataset.Timing {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.Timings(i)
}

// ID returns the session id of conversation i.
func (g *streamedDataset) ID(i int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.ID(i)
}

// Conversation returns conversation i.
func (g *streamedDataset) Conversation(i int) *conversation.Conversation {
	c, _ := g.Draft(i)
	return c
}

// Draft returns conversation i.
func (g *streamedDataset) Draft(i int) (c *conversation.Conversation, whole bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Dataset.Draft(i)
}
