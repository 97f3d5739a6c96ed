package plan

import (
	"math"
	"slices"
	"sync"
	"time"

	"aiperf/internal/capacity"
	"aiperf/internal/metric"
	"aiperf/internal/stats"
)

// follower keeps what is known of the requests of a cell while it goes on and after it, and shows them to the search at its looks
// (run.Watcher, pipeline.Observer). Requests that are under way count as soon as it is certain whether they keep an objective.
type follower struct {
	objectives []Objective
	looks      []float64 // s after the start of the cell, in order; the last is its end, at which nobody looks
	done       func(at float64, list []capacity.Request) (enough bool)

	mu      sync.Mutex
	flights map[string]*flight // by request id
	began   int64              // start of the phase, wall ns; 0: not known
	enough  bool
}

// flight is what is known of a request; instants in wall ns, 0: not yet.
type flight struct {
	start, first, end int64
	row               *metric.Row
}

func newFollower(objectives []Objective, looks []float64, done func(float64, []capacity.Request) bool) *follower {
	return &follower{objectives: objectives, looks: looks, done: done, flights: map[string]*flight{}}
}

// of is the flight of a request.
func (f *follower) of(id string) *flight {
	one := f.flights[id]
	if one == nil {
		one = &flight{}
		f.flights[id] = one
	}
	return one
}

// Sent implements run.Watcher.
func (f *follower) Sent(id string, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(id).start = at
}

// First implements run.Watcher.
func (f *follower) First(id string, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(id).first = at
}

// Ended implements run.Watcher.
func (f *follower) Ended(id string, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(id).end = at
}

// Observe implements pipeline.Observer.
func (f *follower) Observe(row *metric.Row) {
	if row.Meta.Warmup {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.of(row.Meta.RequestID)
	one.start, one.end, one.row = row.Start, row.End, row
}

// Looks implements run.Watcher.
func (f *follower) Looks() (list []time.Duration) {
	for _, at := range f.looks[:max(0, len(f.looks)-1)] {
		list = append(list, time.Duration(at*1e9))
	}
	return list
}

// Look implements run.Watcher.
func (f *follower) Look(start int64, after time.Duration) bool {
	f.mu.Lock()
	f.began = start
	list := f.requests(start + int64(after))
	f.mu.Unlock()
	if !f.done(after.Seconds(), list) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.enough = true
	return true
}

// conclude shows the whole cell, unless a look had seen enough of it.
func (f *follower) conclude() {
	if f.enough {
		return
	}
	end := f.looks[len(f.looks)-1]
	f.done(end, f.requests(math.MaxInt64))
}

// all are the requests of a cell that is over.
func (f *follower) all() []capacity.Request { return f.requests(math.MaxInt64) }

// sorted are the flights in the order in which they began.
func (f *follower) sorted() []*flight {
	list := make([]*flight, 0, len(f.flights))
	for _, one := range f.flights {
		if one.start != 0 {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *flight) int { return int(min(1, max(-1, a.start-b.start))) })
	return list
}

// requests are the flights as the search knows requests at an instant (wall ns).
func (f *follower) requests(now int64) []capacity.Request {
	flights := f.sorted()
	if len(flights) == 0 {
		return nil
	}
	began := f.began
	if began == 0 {
		began = flights[0].start
	}
	out := make([]capacity.Request, 0, len(flights))
	for _, one := range flights {
		if one.start > now { // the look is late
			break
		}
		r := capacity.Request{Start: float64(one.start-began) / 1e9, End: math.Inf(1)}
		if one.end != 0 && !one.cut() {
			r.End = float64(one.end-began) / 1e9
		}
		for i := range f.objectives {
			v, at := f.objectives[i].judge(one, now)
			if math.IsInf(at, 0) {
				at = r.End
			} else {
				at += r.Start
			}
			r.Values, r.Known = append(r.Values, v), append(r.Known, at)
		}
		out = append(out, r)
	}
	return out
}

// cut tells whether the run itself ended the request.
func (one *flight) cut() bool { return one.row != nil && one.row.Class == metric.Cut }

// judge is the figure of a request by an instant and from when on it is known, in s after its start; +Inf: when it ended. A request without an
// answer is bad for a limit that has passed; of one whose row is still to come nothing is known.
func (o *Objective) judge(one *flight, now int64) (value, at float64) {
	row, failed := one.row, one.row != nil && one.row.Class == metric.Failed
	switch {
	case o.tag == errorRate && (row == nil || one.cut()):
		return math.NaN(), math.Inf(1)
	case o.tag == errorRate && failed:
		return 1, math.Inf(1)
	case o.tag == errorRate:
		return 0, math.Inf(1)
	case failed:
		return math.Inf(1), math.Inf(1)
	}
	limit := math.Inf(1)
	if o.at == atLimit {
		limit = o.Limit / o.factor * 1e-9 // in s
	}
	if row != nil {
		if v, ok := row.Value(o.tag); ok {
			return v * o.factor, limit
		}
	}
	if one.first != 0 && o.tag == firstToken {
		return float64(one.first-one.start) * o.factor, limit
	}
	if o.at == atLimit && float64(one.until(now)-one.start)*1e-9 > limit && one.waits(o) {
		return math.Inf(1), limit
	}
	return math.NaN(), math.Inf(1)
}

// until is the instant up to which something is known of a request.
func (one *flight) until(now int64) int64 {
	if one.end != 0 {
		return one.end
	}
	return now
}

// waits tells whether a request still waited for what an objective is about when last something was known of it.
func (one *flight) waits(o *Objective) bool {
	return (one.end == 0 || one.cut()) && (one.first == 0 || o.tag != firstOutput)
}

// waiting are the requests that were cut before their first content came.
func (f *follower) waiting() (n int) {
	for _, one := range f.flights {
		if one.cut() && one.first == 0 {
			n++
		}
	}
	return n
}

// values are the figures of an objective over the finished requests, in the unit of its limit and in the order in which they began.
func (f *follower) values(o *Objective) (list []float64) {
	for _, one := range f.sorted() {
		if one.row == nil {
			continue
		}
		if v, ok := one.row.Value(o.tag); ok {
			list = append(list, v*o.factor)
		}
	}
	return list
}

// median is that of the latencies of the finished requests, in s; NaN: there are none.
func (f *follower) median() float64 {
	var list []float64
	for _, one := range f.flights {
		if one.row != nil && one.row.Class == metric.Valid {
			list = append(list, float64(one.end-one.start)/1e9)
		}
	}
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return stats.Percentile(list, 50)
}
