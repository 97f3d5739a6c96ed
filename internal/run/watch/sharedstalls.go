package watch

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/base/binenc"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
)

// QuietTimes says when the servers sent nothing to one of several machines, by the wall clock of their controller.
type QuietTimes struct {
	Stalls []metric.ServerSilence // those that this machine alone would call a stall
	Quiet  []metric.Window        // times of a second or more without data, whether requests waited or not
}

// Visit encodes or decodes the times.
func (q *QuietTimes) Visit(c *binenc.Coder) {
	binenc.Slice(c, &q.Stalls, func(c *binenc.Coder, s *metric.ServerSilence) { binenc.Value(c, s) })
	binenc.Slice(c, &q.Quiet, func(c *binenc.Coder, s *metric.Window) { binenc.Value(c, s) })
}

func (p *StallDetector) addQuiet(s metric.Window) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.quiet) < mostSilences {
		p.quiet = append(p.quiet, s)
	}
}

// QuietTimes returns the quiet times of this machine. wall returns the wall time of the controller at an instant of package clock.
func (p *StallDetector) QuietTimes(wall func(at int64) int64) QuietTimes {
	q := QuietTimes{Stalls: p.silences(wall)}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range append(slices.Clone(p.quiet), metric.Window{From: p.quietSince(p.last.Load()), To: math.MaxInt64}) {
		one := metric.Window{From: math.MinInt64, To: math.MaxInt64} // before the first event and after the last one
		if s.From != 0 {
			one.From = wall(s.From)
		}
		if s.To != math.MaxInt64 {
			one.To = wall(s.To)
		}
		q.Quiet = append(q.Quiet, one)
	}
	return q
}

// SharedStalls returns the stalls of servers that several machines use: times within the stalls of a machine in which no other machine received data.
// A machine judges by its own gaps between events, which are longer than those of all machines together, so short stalls may be missed.
func SharedStalls(machines []QuietTimes, within metric.Window) (list []metric.ServerSilence) {
	quiet := []metric.Window{within}
	for _, m := range machines {
		sorting.Sort(m.Quiet, func(a, b metric.Window) int { return cmp.Compare(a.From, b.From) })
		quiet = intersect(quiet, m.Quiet)
	}
	var parts []metric.ServerSilence
	for _, m := range machines {
		for _, s := range m.Stalls {
			for _, q := range intersect(quiet, []metric.Window{{From: s.From, To: s.To}}) {
				parts = append(parts, metric.ServerSilence{From: q.From, To: q.To, Waiting: s.Waiting})
			}
		}
	}
	return slices.DeleteFunc(joined(parts), func(s metric.ServerSilence) bool { return s.To-s.From < int64(leastSilence) })
}

// joined makes overlapping silences of different machines one, with the requests of all of them.
func joined(parts []metric.ServerSilence) (list []metric.ServerSilence) {
	sorting.Sort(parts, func(a, b metric.ServerSilence) int { return cmp.Compare(a.From, b.From) })
	for _, s := range parts {
		if n := len(list); n > 0 && s.From < list[n-1].To {
			list[n-1].To, list[n-1].Waiting = max(list[n-1].To, s.To), list[n-1].Waiting+s.Waiting
			continue
		}
		list = append(list, s)
	}
	return list
}

// intersect returns the times that lie in both lists, each in order and without overlaps.
func intersect(a, b []metric.Window) (both []metric.Window) {
	for len(a) > 0 && len(b) > 0 {
		if one := (metric.Window{From: max(a[0].From, b[0].From), To: min(a[0].To, b[0].To)}); one.From < one.To {
			both = append(both, one)
		}
		if a[0].To < b[0].To {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}
