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

// growWeka begins to read traces. It returns when as many are there as begin together (Options.Together); reading goes on a little ahead of
// their use.
func growWeka(path string, o Options, info dataset.Info, corpus string) (dataset.Dataset, error) {
	l := newLoader(o, info)
	l.corpus = corpus
	l.set.info.FirstHasTime = !o.Agents.Instant
	inner, err := newGrown(l, func() {})
	if err != nil {
		return nil, err
	}
	g := &grownAgents{grown: inner, agents: l.Agents()}
	g.agents.set.kept.Name, g.agents.grew = path, g.note
	g.source = g.agents.set
	go func() {
		err := g.agents.readUntil(path, g.over)
		if err == nil && l.faults.Count() == 0 {
			err = g.agents.tell(path)
		}
		g.publish()
		g.end(l, path, err)
	}()
	_, err = g.Reach(max(0, o.Together-1))
	if err == nil {
		_, err = g.Reach(0)
	}
	if err == nil {
		g.fill, err = g.agents.filler()
		g.prompts = l.set.prompts
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// note tells that there is one more trace, and waits until still more are wanted.
func (g *grownAgents) note() {
	g.agents.l.Reading = nil // requests are sent from now on
	g.publish()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pause()
}

// publish lets others know what is known of the set.
func (g *grownAgents) publish() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.info = g.agents.l.set.info
	g.info.Warnings = slices.Clip(g.info.Warnings)
	g.agents.set.tell(&g.info)
}

// over tells whether no more traces are wanted, or something is wrong with the last one. Before anything is sent some more are read, so that their
// faults are told together.
func (g *grownAgents) over() bool {
	if f := &g.agents.l.faults; f.Count() > 0 && !f.Enough() && g.agents.set.drawn() == 0 && g.faulty < tellTraces {
		g.faulty++
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fault == nil {
		g.fault = g.agents.set.fault
	}
	return !g.sound(g.agents.l)
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
