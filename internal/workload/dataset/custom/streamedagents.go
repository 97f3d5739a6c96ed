package custom

import (
	"errors"
	"slices"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// streamedAgents is a dataset of recorded agents whose traces are read while it is used. Each trace is complete in its line or file.
type streamedAgents struct {
	*streamedDataset
	agents *Agents
	faulty int // traces read since the first error
}

// canStreamAgents reports whether traces can be sent while others are read. They must be large and used in file order.
func (o Options) canStreamAgents(path string) bool {
	files, err := traces(path)
	return err == nil && o.Early && !o.Scheduled && o.Fetch == nil && o.Context.User == 0 && o.Context.PrefixLength == 0 && o.Context.PrefixPool == 0 && o.leaves(files)
}

// openStreamedAgents starts to read traces. It returns when enough for the start are read (Options.Together). The rest is read a little ahead of its use.
func openStreamedAgents(read func(*Agents, string) error) func(path string, o Options, info dataset.Info, corpus string) (dataset.Dataset, error) {
	return func(path string, o Options, info dataset.Info, corpus string) (dataset.Dataset, error) {
		l := newLoader(o, info)
		l.corpus = corpus
		l.set.info.FirstHasTime = !o.Agents.Instant
		inner, err := newStreamedDataset(l, func() {})
		if err != nil {
			return nil, err
		}
		g := &streamedAgents{streamedDataset: inner, agents: l.Agents()}
		g.agents.set.packedSessions.Name, g.agents.next = path, g.next
		g.source = g.agents.set
		go func() {
			err := read(g.agents, path)
			if err == nil && l.faults.Count() == 0 {
				err = g.agents.warnSkipped(path)
			}
			g.mu.Lock()
			g.publish()
			g.mu.Unlock()
			g.end(l, path, err)
		}()
		if err = g.gather(o.Together); err == nil {
			g.fill, err = g.agents.filler()
			g.prompts = l.set.prompts
		}
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		return g, nil
	}
}

// gather waits until n traces, or all, are read.
func (g *streamedAgents) gather(n int) error {
	if _, err := g.Reach(max(1, n) - 1); err != nil {
		return err
	}
	_, err := g.Reach(0)
	return err
}

// next is called after each trace and waits until more are wanted. It returns true if no more are, because the dataset was closed or an error
// occurred. After an error before the first request it reads some more traces, so that their errors are reported together.
func (g *streamedAgents) next() (enough bool) {
	l, drawn := g.agents.l, g.agents.set.drawn()
	if l.faults.Count() > 0 && !l.faults.Enough() && drawn == 0 && g.faulty < tracesPerReport {
		g.faulty++
		return false
	}
	if drawn > 0 {
		l.Reading = nil // requests are sent from now on
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fault == nil {
		g.fault = g.agents.set.fault
	}
	if g.canContinue(l) {
		g.publish()
		g.pause()
	}
	return g.fault != nil
}

// publish updates the info for readers. The caller holds mu.
func (g *streamedAgents) publish() {
	g.info = g.agents.l.set.info
	g.info.Warnings = slices.Clip(g.info.Warnings)
	g.agents.set.fillInfo(&g.info)
}

// Timings returns the send times of conversation i. agentSet has its own lock, so that texts can be generated while traces are read.
func (g *streamedAgents) Timings(i int) []dataset.Timing { return g.Dataset.Timings(i) }

// ID returns the session id of conversation i.
func (g *streamedAgents) ID(i int) string { return g.Dataset.ID(i) }

// Conversation returns conversation i.
func (g *streamedAgents) Conversation(i int) *conversation.Conversation {
	return g.Dataset.Conversation(i)
}

// Draft returns conversation i without its messages.
func (g *streamedAgents) Draft(i int) (c *conversation.Conversation, whole bool) {
	return g.Dataset.Draft(i)
}

// Close stops the reading and removes the temporary file.
func (g *streamedAgents) Close() error {
	return errors.Join(g.streamedDataset.Close(), g.agents.set.packedSessions.Close())
}
