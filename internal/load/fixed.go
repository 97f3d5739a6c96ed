package load

import (
	"context"
	"fmt"
	"slices"
)

// fixedStarts replays the timestamps of a trace.
type fixedStarts struct {
	p       *phase
	entries []entry
	zero    float64 // ms of the trace at the start of the phase
}

type entry struct {
	sample
	at float64 // ms on the trace's clock
}

func (f *fixedStarts) build(ctx context.Context) error {
	source := f.p.g.opts.Source
	for i := range source.Len() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		shape, err := source.Shape(i)
		if err != nil {
			return err
		}
		e := entry{sample: sample{index: i, shape: shape}}
		if err := checkShape(e.sample); err != nil {
			return err
		}
		if shape.Turns[0].Timestamp == nil {
			return fmt.Errorf("fixed schedule: the first turn of session %q has no timestamp", shape.ID)
		}
		e.at = *shape.Turns[0].Timestamp
		f.entries = append(f.entries, e)
	}
	slices.SortStableFunc(f.entries, func(a, b entry) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	f.zero = f.p.Schedule.Start
	if f.p.Schedule.Auto {
		f.zero = f.entries[0].at
	}
	return nil
}

// offset is where a time of the trace lies in the phase, ns.
func (f *fixedStarts) offset(ms float64) int64 { return ns((ms - f.zero) / 1e3) }

func (f *fixedStarts) peek() (int64, bool) {
	if len(f.entries) == 0 {
		return 0, false
	}
	return f.offset(f.entries[0].at), true
}

func (f *fixedStarts) pop(t0 int64) *ticket {
	e := f.entries[0]
	f.entries = f.entries[1:]
	return f.p.newSession(e.sample, "fixed-schedule-"+e.shape.ID, len(e.shape.Turns), t0+f.offset(e.at))
}

// due is the turn's own timestamp, else its delay after the answer, else at once; never before the answer.
func (f *fixedStarts) due(_, next *ticket, now int64) int64 {
	if at := next.ses.Shape.Turns[next.req.Turn].Timestamp; at != nil {
		return max(now, f.p.t0+f.offset(*at))
	}
	return now + thinkTime(next)
}
