package load

import (
	"context"
	"sync"
)

// drawing is the sequence of conversations of a run in sampling order, of which this machine takes its own: every n-th, or those it was given.
type drawing struct {
	mu       sync.Mutex
	next     func() int
	drawn    int64   // number of the next draw of next
	passes   []int32 // by conversation, how often it is among the draws so far
	share    Share
	first    int64 // number of the first draw of the share
	sessions int64 // number of the session of that draw
	taken    int64 // number of draws taken, of a share

	given bool   // it takes only the draws that it was given
	queue []Run  // those, relative to first
	seen  []seen // with given, all draws from first on, because they may be given in any order
}

// seen is a draw: the conversation, and how often it was drawn with it.
type seen struct{ index, pass int32 }

// take returns the next draw of this machine. The prefetcher calls it only as often as there are draws.
func (d *drawing) take() sample {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.given {
		at := d.first + d.share.of(d.taken)
		d.taken++
		for d.drawn < at {
			d.draw()
		}
		return d.sample(d.draw(), at)
	}
	r := &d.queue[0]
	at := r.From
	r.From += r.Step
	if r.Count--; r.Count == 0 {
		d.queue = d.queue[1:]
	}
	for int64(len(d.seen)) <= at {
		d.seen = append(d.seen, d.draw())
	}
	return d.sample(d.seen[at], d.first+at)
}

// draw returns the next draw of the whole run.
func (d *drawing) draw() seen {
	index := d.next()
	d.passes = countDraw(d.passes, index, 1)
	d.drawn++
	return seen{int32(index), d.passes[index]}
}

// sample converts the draw with a number in the run.
func (d *drawing) sample(s seen, number int64) sample {
	return sample{index: s.index, pass: s.pass, session: d.sessions + number - d.first + 1}
}

// give adds draws and returns their number.
func (d *drawing) give(list []Run) (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range list {
		if r.Count > 0 && r.From >= 0 && r.Step > 0 {
			d.queue = append(d.queue, r)
			n += r.Count
		}
	}
	return n
}

// redraw returns the sequence of all conversations after its first n draws, and how often each is among those.
func (g *Generator) redraw(n int64) (*drawing, error) {
	next, err := newSampler(g.scenario.Sampling, g.opts.Source, g.opts.Root)
	if err != nil {
		return nil, err
	}
	d := &drawing{next: next}
	for range n {
		d.draw()
	}
	return d, nil
}

// align waits for the other machines before a phase and continues the run's sequences after what all of them have used. A seamless phase does not
// wait: every machine continues with its own numbers.
func (g *Generator) align(ctx context.Context, p *phase) error {
	if g.scenario.Share.whole() || p.Seamless {
		return nil
	}
	all, err := g.opts.Coordinator.Open(ctx, &p.info, g.usage())
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.aligned, g.used = all, all
	g.cancellable, g.nextURL = 0, int(all.Sessions)
	g.cancellation, g.otherDraws = g.opts.Root.Stream(cancellationStream), all.Cancellable+int64(g.scenario.Share.Index)
	g.mu.Unlock()
	d, err := g.redraw(all.Draws)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.following, g.passes = false, d.passes
	if p.Mode == FixedSchedule { // it draws nothing; its sessions are numbered by their places
		g.used.Replays++
	}
	g.mu.Unlock()
	if p.Mode == FixedSchedule {
		return nil
	}
	if p.Mode == UserCentric || p.Mode == AgenticReplay && g.lanes == nil {
		g.follow(d)
		return nil
	}
	return g.leave(d, p)
}

// follow makes the machine draw for all machines: users and lanes depend on those before them.
func (g *Generator) follow(d *drawing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.following = true
	g.prefetcher.restart(func() (sample, bool) { return sample{index: int32(d.next())}, true }, never)
}

// leave makes the machine draw for itself only.
func (g *Generator) leave(d *drawing, p *phase) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	d.share, d.first, d.sessions = g.scenario.Share, d.drawn, int64(g.nextURL)
	g.drawing, g.following = d, false
	most := draws(g.scenario.Phases[p.info.Index:], g.scenario.Share)
	if p.drawsLeased() {
		d.given, most = true, 0
	}
	g.prefetcher.restart(func() (sample, bool) { return d.take(), true }, most)
	return nil
}

// leaveLanes ends the time in which every machine follows the lanes of all, for which it has taken some conversations.
func (g *Generator) leaveLanes(taken int64, p *phase) error {
	if g.scenario.Share.whole() {
		return nil
	}
	d, err := g.redraw(g.aligned.Draws + taken)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.used.Draws, g.used.Sessions = max(g.used.Draws, d.drawn), max(g.used.Sessions, int64(g.nextURL))
	g.mu.Unlock()
	return g.leave(d, p)
}

// record records that a drawn session has started. The caller holds the mutex.
func (g *Generator) record(p *phase, d *sample) {
	switch {
	case g.scenario.Share.whole():
	case d.session == 0: // the machine follows all: what it has drawn is used
		g.used.Sessions = max(g.used.Sessions, int64(g.nextURL))
	default:
		g.used.Sessions = max(g.used.Sessions, d.session)
		if p.Mode != FixedSchedule {
			g.used.Draws = max(g.used.Draws, d.session-g.drawing.sessions+g.drawing.first)
		}
	}
}

// usage returns how far this machine has come in the phases so far.
func (g *Generator) usage() Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.used
	if g.following {
		u.Draws = max(u.Draws, g.aligned.Draws+g.prefetcher.used())
	}
	if n := g.cancellable; n > 0 {
		u.Cancellable = max(u.Cancellable, g.aligned.Cancellable+g.scenario.Share.of(n-1)+1)
	}
	return u
}

// cancels reports whether the phase draws for every request whether it is cancelled.
func (p *phase) cancels() bool { return !p.Warmup && p.Cancellation.Percent > 0 }

// cancelled draws for a request whether it is cancelled. Every machine draws for all requests of the run.
func (g *Generator) cancelled(percent float64) bool {
	for ; g.otherDraws > 0; g.otherDraws-- {
		g.cancellation.Float64()
	}
	g.otherDraws = int64(g.scenario.Share.machines() - 1)
	g.cancellable++
	return g.cancellation.Float64() < percent/100
}

// pass returns how often a conversation was drawn before, by all machines, and counts this draw.
func (g *Generator) pass(d *sample) int {
	if d.pass > 0 {
		return int(d.pass) - 1 + int(g.aligned.Replays)
	}
	g.passes = countDraw(g.passes, int(d.index), 1)
	return int(g.passes[d.index]) - 1 + int(g.aligned.Replays)
}

// countDraw adds to how often a conversation was drawn.
func countDraw(passes []int32, conversation int, times int32) []int32 {
	if missing := conversation + 1 - len(passes); missing > 0 {
		passes = append(passes, make([]int32, missing)...)
	}
	passes[conversation] += times
	return passes
}

// url returns the index of the target URL of the next session.
func (g *Generator) url(d *sample) int {
	n := d.session - 1
	if n < 0 {
		n = int64(g.nextURL)
		g.nextURL++
	}
	return int(n % int64(g.scenario.URLs))
}

// undo takes back the number and the pass of a session that did not start.
func (g *Generator) undo(d *sample) {
	if d.session == 0 {
		g.nextURL--
	}
	if d.pass == 0 {
		g.passes[d.index]--
	}
}
