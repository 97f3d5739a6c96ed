package load

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/rng"
)

// replaySlot is one lane of a replay: one of the concurrent sessions with everything that runs on it.
type replaySlot struct {
	family  *family
	streams []*stream
}

// stream is one session of a lane and its position.
type stream struct {
	ses    *session
	next   int   // next turn to send
	offset int64 // when to send it, ns after the boundary between the phases
	waits  bool  // it waits for sessions that it has started
	primes int   // turn that primes its cache, -1 = it has sent none
	lead   int64 // how long before the entry that turn was sent, ns; -1 = not recorded
}

// chooseLanes chooses the lanes of a run, once: a conversation for each, and the instant of the entry. It skips conversations that cannot be entered.
func (g *Generator) chooseLanes(ctx context.Context, p *phase) error {
	if g.lanes != nil {
		return nil
	}
	pool := g.opts.Source.Len()
	g.prefetcher.deepen(p.Concurrency)
	taken, entered := int64(0), 0 // also for other machines
	for tries := p.Concurrency + 2*pool; tries > 0 && entered < p.Concurrency; tries-- {
		d, err := g.await(ctx, g.prefetcher)
		if err != nil {
			return err
		}
		taken++
		g.mu.Lock()
		if l := g.laneOf(d, entered, p.Replay); l != nil {
			if g.scenario.Share.owns(int64(entered)) {
				g.lanes = append(g.lanes, l)
			}
			entered++
		}
		g.mu.Unlock()
	}
	if entered == 0 {
		return fmt.Errorf("none of the %d conversations can be started in the middle, as a replay does; they need two turns or more, or recorded times", pool)
	}
	if len(g.lanes) == 0 {
		return fmt.Errorf("%d machines for %d conversations that can be started in the middle: some would send nothing", g.scenario.Share.machines(), entered)
	}
	return g.leaveLanes(taken, p)
}

// laneOf enters a conversation at a random instant. The seed of the run, the conversation and the lane determine it, so that a conversation on
// several lanes is entered at different instants. nil = it cannot be entered.
func (g *Generator) laneOf(d sample, number int, r Replay) *replaySlot {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%s:%d", g.opts.Root.Seed(), d.shape.ID, number))
	draw := rng.NewNumpy(binary.BigEndian.Uint64(sum[:]))
	if first, last, ok := spanOf(&d.shape); ok {
		from, to := first+float64(r.From*(last-first)), first+float64(r.To*(last-first))
		at := from
		if to > from {
			at += float64((to - from) * draw.Float64())
		}
		if l := g.cutAt(d, at); l != nil {
			return l
		}
		draw = rng.NewNumpy(binary.BigEndian.Uint64(sum[:]))
	}
	return g.cutBefore(d, draw, r)
}

// spanOf returns the times of the first and the last request of a recording, ms, over all its sessions.
func spanOf(s *Shape) (first, last float64, ok bool) {
	first, last = math.Inf(1), math.Inf(-1)
	s.each(func(t *TurnTime) {
		if t.Timestamp != nil {
			first, last = min(first, *t.Timestamp), max(last, *t.Timestamp)
		}
	})
	return first, last, first <= last
}

// each calls visit for the turns of a conversation and of the sessions that it starts.
func (s *Shape) each(visit func(*TurnTime)) {
	for i := range s.Turns {
		visit(&s.Turns[i])
		for _, b := range s.Turns[i].Branches {
			b.Shape.each(visit)
		}
	}
}

// nextAt returns the first turn at or after an instant of the recording; -1 = none.
func (s *Shape) nextAt(ms float64) int {
	return slices.IndexFunc(s.Turns, func(t TurnTime) bool { return t.Timestamp != nil && *t.Timestamp >= ms })
}

// cutAt enters a recording at an instant, ms. A session with requests before and after the instant is positioned between them. A session that was
// started but has sent nothing is at its beginning. A session that is over counts as answered. nil = nothing could continue.
func (g *Generator) cutAt(d sample, at float64) *replaySlot {
	root := &d.shape
	next := root.nextAt(at)
	main := g.laneSession(d, max(next, 0))
	f := main.family
	l := &replaySlot{family: f}
	f.markAnswered(int(d.index), next, len(root.Turns))
	if next >= 0 {
		l.add(main, next, at)
	}
	waits := false
	for k := range root.Turns {
		for i := range root.Turns[k].Branches {
			b := &root.Turns[k].Branches[i]
			turn := b.Shape.nextAt(at)
			f.markAnswered(b.Conversation, turn, len(b.Shape.Turns))
			if turn < 0 || !started(root, b, k, next, at) {
				continue
			}
			c := &session{family: f, unsentTurns: b.Shape.requestsFrom(turn, len(b.Shape.Turns))}
			c.Session = Session{ID: rng.UUID(), Conversation: b.Conversation, Shape: *b.Shape, Turns: len(b.Shape.Turns), URL: main.URL,
				Parent: &main.Session, ParentTurn: k, Fork: b.Fork, From: max(0, turn-1)}
			if b.Join > 0 && next >= 0 && b.Join >= next {
				main.await(c, b.Join)
				waits = waits || b.Join == next
			}
			l.add(c, turn, at)
		}
	}
	if len(l.streams) == 0 {
		return nil
	}
	if waits {
		l.streams[0].waits = true
	}
	l.close()
	return l
}

// started reports whether a session that a turn starts was already started at an instant of the recording. next is the next turn of the main session
// at that instant, -1 = none.
func started(root *Shape, b *Branch, turn, next int, at float64) bool {
	if first := b.Shape.Turns[0].Timestamp; first == nil || at >= *first {
		return true
	}
	by := root.Turns[turn].Timestamp
	return by != nil && at >= *by && (next < 0 || next > turn)
}

// cutBefore enters a conversation without times at a random turn; the previous turn primes the cache. nil = it has too few turns.
func (g *Generator) cutBefore(d sample, draw *rng.Numpy, r Replay) *replaySlot {
	n := len(d.shape.Turns)
	if n < 2 {
		return nil
	}
	from, to := min(int(r.From*float64(n)), n-2), min(int(r.To*float64(n)), n-2)
	turn := min(from, to)
	turn += draw.Integers(0, to-turn+1)
	main := g.laneSession(d, turn+1)
	l := &replaySlot{family: main.family}
	l.family.markAnswered(int(d.index), turn+1, n)
	l.streams = []*stream{{ses: main, next: turn + 1, primes: turn, lead: -1}}
	l.close()
	return l
}

// laneSession makes the session of a drawn conversation whose next turn is next.
func (g *Generator) laneSession(d sample, next int) *session {
	n := len(d.shape.Turns)
	f := &family{reached: map[int]int{}}
	s := &session{drawn: d, family: f, unsentTurns: d.shape.requestsFrom(next, n)}
	s.Session = Session{ID: rng.UUID(), Conversation: int(d.index), Shape: d.shape, Turns: n, URL: g.url(&d), From: max(0, next-1), Pass: g.pass(&d)}
	return s
}

// add adds a session to the lane, at an instant of the recording.
func (l *replaySlot) add(s *session, next int, at float64) {
	one := &stream{ses: s, next: next, primes: next - 1, lead: -1}
	if t := s.Shape.Turns[next].Timestamp; t != nil {
		one.offset = max(0, ns((*t-at)/1e3))
	}
	if next > 0 {
		if t := s.Shape.Turns[next-1].Timestamp; t != nil {
			one.lead = max(0, ns((at-*t)/1e3))
		}
		if s.Shape.Turns[next-1].Silent {
			one.primes = -1
		}
	}
	l.streams = append(l.streams, one)
}

// close counts the sessions of the lane.
func (l *replaySlot) close() {
	f := l.family
	f.live, f.unsentTurns = len(l.streams), 0
	for _, s := range l.streams {
		f.unsentTurns += s.ses.unsentTurns
	}
}

// await makes a turn of the session wait for the end of a session that it has started.
func (s *session) await(c *session, turn int) {
	if s.awaits == nil {
		s.awaits = map[int]int{}
	}
	c.awaitedBy, c.joins = s, turn
	s.awaits[turn]++
}
