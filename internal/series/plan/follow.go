package plan

import (
	"math"
	"slices"
	"sync"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/series/capacity"
)

// requestFollower stores what is known about the requests of a cell, during and after it, and passes them to the search at its looks (watch.Watcher,
// pipeline.Observer). Requests in flight count as soon as it is certain whether they meet an objective.
type requestFollower struct {
	objectives []Objective
	lookTimes  []float64 // s after the start of the cell, ascending; the last is its end, without a look
	done       func(at float64, list []capacity.Request) (enough bool)

	mu      sync.Mutex
	flights map[string]*requestState // by request id
	began   int64                    // start of the phase, wall ns; 0: unknown
	enough  bool
}

// requestState is what is known about a request; instants in wall ns, 0: not yet.
type requestState struct {
	start, first, end int64
	row               *metric.Row
}

func newFollower(objectives []Objective, looks []float64, done func(float64, []capacity.Request) bool) *requestFollower {
	return &requestFollower{objectives: objectives, lookTimes: looks, done: done, flights: map[string]*requestState{}}
}

// state returns the state of a request.
func (f *requestFollower) state(id string) *requestState {
	one := f.flights[id]
	if one == nil {
		one = &requestState{}
		f.flights[id] = one
	}
	return one
}

// Sent implements watch.Watcher.
func (f *requestFollower) Sent(id string, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state(id).start = at
}

// First implements watch.Watcher.
func (f *requestFollower) First(id string, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state(id).first = at
}

// Ended implements watch.Watcher.
func (f *requestFollower) Ended(id string, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state(id).end = at
}

// Observe implements pipeline.Observer.
func (f *requestFollower) Observe(row *metric.Row) {
	if row.Meta.Warmup {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.state(row.Meta.RequestID)
	one.start, one.end, one.row = row.Start, row.End, row
}

// Looks implements watch.Watcher.
func (f *requestFollower) Looks() (list []time.Duration) {
	for _, at := range f.lookTimes[:max(0, len(f.lookTimes)-1)] {
		list = append(list, time.Duration(at*1e9))
	}
	return list
}

// Look implements watch.Watcher.
func (f *requestFollower) Look(start int64, after time.Duration) bool {
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

// conclude passes the whole cell to the search, unless a look has ended it.
func (f *requestFollower) conclude() {
	if f.enough {
		return
	}
	end := f.lookTimes[len(f.lookTimes)-1]
	f.done(end, f.requests(math.MaxInt64))
}

// all returns the requests of a finished cell.
func (f *requestFollower) all() []capacity.Request { return f.requests(math.MaxInt64) }

// sorted returns the requests in the order of their starts.
func (f *requestFollower) sorted() []*requestState {
	list := make([]*requestState, 0, len(f.flights))
	for _, one := range f.flights {
		if one.start != 0 {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *requestState) int { return int(min(1, max(-1, a.start-b.start))) })
	return list
}

// requests returns the requests as known at an instant (wall ns).
func (f *requestFollower) requests(now int64) []capacity.Request {
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
		if one.end != 0 && !one.cancelledByRun() {
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

// cancelledByRun reports whether the run itself cancelled the request.
func (one *requestState) cancelledByRun() bool { return one.row != nil && one.row.Class == metric.Cut }

// judge returns the figure of a request at an instant, and from when it is known, in s after its start; +Inf: when it ended. A request without an
// answer is bad once the limit has passed. One whose row is still missing is unknown.
func (o *Objective) judge(one *requestState, now int64) (value, at float64) {
	row, failed := one.row, one.row != nil && one.row.Class == metric.Failed
	switch {
	case o.tag == errorRate && (row == nil || one.cancelledByRun()):
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

// until returns the instant up to which a request is known.
func (one *requestState) until(now int64) int64 {
	if one.end != 0 {
		return one.end
	}
	return now
}

// waits reports whether a request, when last observed, still waited for the event of an objective.
func (one *requestState) waits(o *Objective) bool {
	return (one.end == 0 || one.cancelledByRun()) && (one.first == 0 || o.tag != firstOutput)
}

// waiting returns the number of requests that were cancelled before their first content.
func (f *requestFollower) waiting() (n int) {
	for _, one := range f.flights {
		if one.cancelledByRun() && one.first == 0 {
			n++
		}
	}
	return n
}

// values returns the figures of an objective for the finished requests, in the unit of its limit and in the order of their starts.
func (f *requestFollower) values(o *Objective) (list []float64) {
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

// median returns the median latency of the finished requests, in s; NaN: there are none.
func (f *requestFollower) median() float64 {
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
