package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/terminal"
)

// replaceLost gives the places of machines that were lost in an earlier run to others, for the next run: to the same machine if it was out of sight
// only, to a spare one, or to a new process on the same computer. Otherwise the place is free for a machine that joins. Machines that never joined
// keep their places, because whatever stopped them stops the next ones as well.
func (c *Controller) replaceLost(ctx context.Context) error {
	c.mu.Lock()
	names := slices.Clone(c.order)
	c.mu.Unlock()
	for _, name := range names {
		c.mu.Lock()
		m := c.members[name]
		gone := m.lost != "" && m.hello != nil
		c.mu.Unlock()
		if !gone || c.takeBack(m) || c.takeSpare(m) {
			continue
		}
		c.vacate(m)
		if m.process == nil {
			c.opts.Note(fmt.Sprintf("machine %s was lost; another one can take its place in the next run: join it as before", terminal.Text(name)))
			continue
		}
		if err := c.startAgain(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// takeBack keeps a machine that was given up because it was out of sight, and is back.
func (c *Controller) takeBack(m *member) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !m.silent || !c.inSight(m.name) {
		return false
	}
	m.lost, m.silent = "", false
	c.opts.Note(fmt.Sprintf("machine %s is back and takes part in the next run", terminal.Text(c.title(m))))
	return true
}

// inSight reports whether there was a sign of life of a machine since the last beats.
func (c *Controller) inSight(name string) bool {
	for _, m := range c.server.Members() {
		if m.Name == name {
			return m.Connected && time.Duration(clock.Now()-m.LastSeen) < 2*clientBeat
		}
	}
	return false
}

// takeSpare gives the place of a lost machine to a spare one.
func (c *Controller) takeSpare(m *member) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.spares) > 0 {
		name := c.spares[0]
		c.spares = c.spares[1:]
		if c.inSight(name) {
			c.order[slices.Index(c.order, m.name)] = name
			c.opts.Note(fmt.Sprintf("machine %s takes the place of %s, which was lost", terminal.Text(name), terminal.Text(c.title(m))))
			return true
		}
	}
	return false
}

// vacate takes the place of a lost machine from it.
func (c *Controller) vacate(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order = slices.DeleteFunc(c.order, func(name string) bool { return name == m.name })
}

// startAgain starts another process instead of one that this controller started.
func (c *Controller) startAgain(ctx context.Context, m *member) error {
	m.process.end(0)
	c.opts.Note(fmt.Sprintf("machine %s was lost; another process takes its place", terminal.Text(c.title(m))))
	return c.start(ctx, m.process.host)
}
