package custom

import (
	"errors"
	"slices"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
)

// grownAgents is a dataset of recorded agents whose traces come while they are used: each is whole in its line, or in its file.
type grownAgents struct {
	*grown
	agents *Agents
	faulty int // traces read since something was wrong
}

// agentsGrow tells whether traces can be sent while others are read: they are many, and are sent in the order in which they stand.
func (o Options) agentsGrow(path string) bool {
	files, err := traces(path)
	return err == nil && o.Early && !o.Scheduled && o.Fetch == nil && o.Context.User == 0 && o.Context.PrefixLength == 0 && o.Context.PrefixPool == 0 && o.leaves(files)
}

// growAgents begins to read traces. It returns when as many are there as begin together (Options.Together); reading goes on a little ahead of
// their use.
func growAgents(read func(*Agents, string) error) func(path string, o Options, info dataset.Info, corpus string) (dataset.Dataset, error) {
	return func(path string, o Options, info dataset.Info, corpus string) (dataset.Dataset, error) {
		l := newLoader(o, info)
		l.corpus = corpus
		l.set.info.FirstHasTime = !o.Agents.Instant
		inner, err := newGrown(l, func() {})
		if err != nil {
			return nil, err
		}
		g := &grownAgents{grown: inner, agents: l.Agents()}
		g.agents.set.kept.Name, g.agents.next = path, g.next
		g.source = g.agents.set
		go func() {
			err := read(g.agents, path)
			if err == nil && l.faults.Count() == 0 {
				err = g.agents.tell(path)
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

// gather waits until so many traces are there, or all.
func (g *grownAgents) gather(n int) error {
	if _, err := g.Reach(max(1, n) - 1); err != nil {
		return err
	}
	_, err := g.Reach(0)
	return err
}

// next tells that one more trace was read, and waits until still more are wanted. It tells whether none are: the set was closed, or something is
// wrong. Before anything is sent some more are read then, so that their faults are told together.
func (g *grownAgents) next() (enough bool) {
	l, drawn := g.agents.l, g.agents.set.drawn()
	if l.faults.Count() > 0 && !l.faults.Enough() && drawn == 0 && g.faulty < tellTraces {
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
	if g.sound(l) {
		g.publish()
		g.pause()
	}
	return g.fault != nil
}

// publish lets others know what is known of the set. The caller holds mu.
func (g *grownAgents) publish() {
	g.info = g.agents.l.set.info
	g.info.Warnings = slices.Clip(g.info.Warnings)
	g.agents.set.tell(&g.info)
}

// Timings returns the times of conversation i. The set of agents guards itself: texts are made beside the reading.
func (g *grownAgents) Timings(i int) []dataset.Timing { return g.Dataset.Timings(i) }

// ID is the session id of conversation i.
func (g *grownAgents) ID(i int) string { return g.Dataset.ID(i) }

// Conversation returns conversation i.
func (g *grownAgents) Conversation(i int) *conversation.Conversation {
	return g.Dataset.Conversation(i)
}

// Draft returns conversation i without its messages.
func (g *grownAgents) Draft(i int) (c *conversation.Conversation, whole bool) {
	return g.Dataset.Draft(i)
}

// Close ends the reading, and lets go of what was kept.
func (g *grownAgents) Close() error {
	return errors.Join(g.grown.Close(), g.agents.set.kept.Close())
}
