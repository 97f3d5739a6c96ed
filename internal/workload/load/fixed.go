package load

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"aiperf/internal/base/sorting"
)

// fixedStarts replays the timestamps of a trace. For later conversations it stores only their indices and times; it requests the rest of their shape
// shortly ahead. A source that is read during use returns its conversations in the order of their times.
type fixedStarts struct {
	p    *phase
	feed *prefetcher
	list *places
	zero float64 // time on the trace's clock at the start of the phase, ms
	last float64 // time of the last conversation taken, ms on the trace's clock
	used int64   // number of conversations taken
}

func (f *fixedStarts) build(ctx context.Context) error {
	g := f.p.g
	list, err := byTime(ctx, g.opts.Source, g.scenario.Share)
	if err != nil {
		return err
	}
	list.sessions, f.list = g.aligned.Sessions, list
	f.feed = f.p.feed(list.next)
	from := f.feed
	if list.skips > 0 { // the trace starts with an entry of another machine
		from = f.p.feed(list.onlyFirst())
	}
	first, err := g.await(ctx, from)
	if err != nil {
		return err
	}
	if err := checkTimed(first.shape); err != nil {
		return err
	}
	if from == f.feed {
		f.feed.putBack([]sample{first})
	}
	f.zero, f.last = f.p.Schedule.Start, startOf(first)
	if f.p.Schedule.Auto {
		f.zero = f.last
	}
	return nil
}

// placedConversation is a conversation with its start time in ms on the trace's clock.
type placedConversation struct {
	at    float64
	index int
}

// places lists the conversations of a source sorted by time, each once.
type places struct {
	at       func(place int) (index int, ok bool)
	order    []placedConversation // nil = the source is read during use
	share    Share
	taken    int64 // number of own places taken
	skips    int   // number of places before the first own one
	sessions int64 // number of sessions of the run before these
}

// next returns the conversation of the machine's next place.
func (l *places) next() (sample, bool) {
	place := l.share.of(l.taken)
	l.taken++
	index, ok := l.at(int(place))
	s := sample{index: int32(index)}
	if !l.share.whole() {
		s.session = l.sessions + place + 1
	}
	return s, ok
}

// onlyFirst returns a list of the first place.
func (l *places) onlyFirst() func() (sample, bool) {
	done := false
	return func() (sample, bool) {
		if done {
			return sample{}, false
		}
		done = true
		index, ok := l.at(0)
		return sample{index: int32(index)}, ok
	}
}

// byTime returns the conversations of a source sorted by time. Conversations with the same time keep their order.
func byTime(ctx context.Context, source Source, share Share) (*places, error) {
	if growing, grows := source.(OpenEndedSource); grows && growing.Ordered() {
		return &places{at: func(place int) (int, bool) { return place, growing.Has(place) }, share: share, skips: share.Index}, nil
	}
	order := make([]placedConversation, source.Len())
	for i := range order {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		shape, err := source.Shape(i)
		if err != nil {
			return nil, err
		}
		if err := checkShape(sample{index: int32(i), shape: shape}); err != nil {
			return nil, err
		}
		if err := checkTimed(shape); err != nil {
			return nil, err
		}
		order[i] = placedConversation{*shape.Turns[0].Timestamp, i}
	}
	sorting.Stable(order, func(a, b placedConversation) int { return cmp.Compare(a.at, b.at) })
	return &places{order: order, at: func(place int) (int, bool) {
		if place >= len(order) {
			return 0, false
		}
		return order[place].index, true
	}, share: share, skips: share.Index}, nil
}

// checkTimed returns an error for a conversation without a timestamp.
func checkTimed(s Shape) error {
	if s.Turns[0].Timestamp == nil {
		return fmt.Errorf("fixed schedule: the first turn of session %q has no timestamp", s.ID)
	}
	return nil
}

func startOf(s sample) float64 { return *s.shape.Turns[0].Timestamp }

// offset converts a time of the trace to an offset in the phase, ns.
func (f *fixedStarts) offset(ms float64) int64 { return ns((ms - f.zero) / 1e3) }

// peek returns the time of the next conversation. While that is not loaded, it returns the time of the previous one, because the next cannot be
// earlier.
func (f *fixedStarts) peek(int64) (int64, bool) {
	next, ready, more := f.feed.head()
	if ready && len(next.shape.Turns) > 0 && next.shape.Turns[0].Timestamp != nil { // otherwise pop returns the error
		return f.offset(startOf(next)), true
	}
	return f.offset(f.last), more
}

func (f *fixedStarts) pop(t0 int64) *ticket {
	d, ok := f.p.nextSample(f.feed)
	if !ok {
		return nil
	}
	err := checkTimed(d.shape)
	if err == nil && startOf(d) < f.last {
		err = fmt.Errorf("fixed schedule: session %q at %g ms comes after one at %g ms", d.shape.ID, startOf(d), f.last)
	}
	if err != nil {
		f.p.refuse(err)
		return nil
	}
	f.last = startOf(d)
	f.used++
	return f.p.newSession(d, "fixed-schedule-"+d.shape.ID, len(d.shape.Turns), t0+f.offset(f.last))
}

func (f *fixedStarts) unstarted(within int64) (turns float64, limited bool) {
	for at := range f.untaken() {
		if f.offset(at) >= within {
			break
		}
		turns++
	}
	return turns, !f.p.mayStart()
}

// untaken returns the times of the conversations that were not taken yet, in order, ms on the trace's clock. Of a source that is read during use they are
// those that were read.
func (f *fixedStarts) untaken() iter.Seq[float64] {
	if f.list.order == nil {
		return f.feed.times()
	}
	return func(yield func(float64) bool) {
		for k := f.used; ; k++ {
			place := f.list.share.of(k)
			if place >= int64(len(f.list.order)) || !yield(f.list.order[place].at) {
				return
			}
		}
	}
}

// due returns the turn's own timestamp, otherwise its delay after the answer, otherwise now. It is never before the answer.
func (f *fixedStarts) due(_, next *ticket, now int64) int64 {
	if at := next.ses.Shape.Turns[next.req.Turn].Timestamp; at != nil {
		return max(now, f.p.t0+f.offset(*at))
	}
	return now + thinkTime(next)
}
