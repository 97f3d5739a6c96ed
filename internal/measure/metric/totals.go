package metric

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// totals are the inputs of derived metrics: the counts and the distributions (in the metrics' units) of one bucket of requests.
type totals struct {
	set      *Selection
	dist     []stats.Distribution // by position in the table; Count 0 = none
	computed map[string]float64   // derived values computed so far
	divisor  float64              // seconds for rates; 0 = the duration of the requests
	slice    bool                 // for a time slice, not a run

	adjusted []*[Stats]float64 // by position: percentiles including failures, in display units

	nValid, nFailed, nOverflow, nCut int64
	nMismatch, nDiscrepant           int64
	anyMismatch, anyDiff             bool
	start, response                  int64     // wall instants of the first start and of the last content of valid requests
	offsets                          []float64 // schedule offsets in ns, ascending
}

func newTotals(set *Selection, b bucket) *totals {
	return &totals{
		set: set, divisor: b.seconds, slice: b.slice, computed: map[string]float64{},
		dist: make([]stats.Distribution, len(table)), adjusted: make([]*[Stats]float64, len(table)),
	}
}

// get returns a derived value or the sum of a per-request metric; absent if there is none.
func (t *totals) get(tag string) float64 {
	if v, ok := t.computed[tag]; ok {
		return v
	}
	i := index[tag]
	if m := &table[i]; m.derive != nil && t.set.use[i] {
		v := m.derive(t)
		t.computed[tag] = v
		return v
	}
	return absent()
}

// sumOf returns the sum of a per-request metric.
func sumOf(tag string) func(*totals) float64 {
	return func(t *totals) float64 {
		if d := &t.dist[index[tag]]; d.Count > 0 {
			return d.Sum
		}
		return absent()
	}
}

// rate returns a total per second.
func rate(tag string) func(*totals) float64 {
	return func(t *totals) float64 { return t.get(tag) / t.seconds() }
}

// ratio returns one total divided by another, times scale.
func ratio(over, under string, scale float64) func(*totals) float64 {
	return func(t *totals) float64 { return t.get(over) / positive(t.get(under)) * scale }
}

// seconds returns the divisor of rates; absent if the requests took no time.
func (t *totals) seconds() float64 {
	if t.divisor > 0 {
		return t.divisor
	}
	return t.get("benchmark_duration") / 1e9
}

// tokenRate returns input and output tokens per second.
func (t *totals) tokenRate() float64 { return (t.get("total_isl") + t.get("total_osl")) / t.seconds() }

// duration returns the time from the first start to the last content of valid requests, in ns.
func (t *totals) duration() float64 {
	from, to := t.set.instant(t.start), t.set.instant(t.response)
	if t.nValid == 0 || from >= to {
		return absent()
	}
	return float64(to - from)
}

func (t *totals) firstStart() float64   { return t.wall(t.start) }
func (t *totals) lastResponse() float64 { return t.wall(t.response) }

func (t *totals) wall(at int64) float64 {
	if t.nValid == 0 {
		return absent()
	}
	return float64(at)
}

func (t *totals) valid() float64     { return positive(float64(t.nValid)) }
func (t *totals) failed() float64    { return positive(float64(t.nFailed)) }
func (t *totals) stopped() float64   { return positive(float64(t.nCut)) }
func (t *totals) completed() float64 { return float64(t.nValid + t.nFailed) }
func (t *totals) errorRate() float64 {
	return 100 * float64(t.nFailed) / positive(float64(t.nValid+t.nFailed))
}

// overflows returns the number of prompts that are too long for the model; 0 if requests failed only for other reasons, absent if none failed.
func (t *totals) overflows() float64 {
	if t.nFailed == 0 {
		return absent()
	}
	return float64(t.nOverflow)
}

// goodCount returns the number of good requests; 0 is a value.
func (t *totals) goodCount() float64 {
	i := t.set.good
	if i < 0 {
		return absent()
	}
	if d := &t.dist[t.set.columns[i]]; d.Count > 0 {
		return d.Sum
	}
	if t.slice { // a slice without valid requests has no goodput
		return absent()
	}
	return 0
}

// goodput returns good requests per second. It is 0 if there are none, even if no valid request took any time.
func (t *totals) goodput() float64 {
	n := t.get("good_request_count")
	if n == 0 {
		return 0
	}
	return n / t.seconds()
}

func (t *totals) goodFraction() float64 {
	n := t.nValid + t.nFailed
	if n == 0 {
		return t.get("good_request_count")
	}
	return t.get("good_request_count") / float64(n)
}

func (t *totals) mismatches() float64    { return countIf(t.anyMismatch, t.nMismatch) }
func (t *totals) discrepancies() float64 { return countIf(t.anyDiff, t.nDiscrepant) }

func countIf(known bool, n int64) float64 {
	if !known {
		return absent()
	}
	return float64(n)
}

// lag returns a percentile, in ms, of the requests' delays relative to the least delayed one.
func lag(level float64) func(*totals) float64 {
	return func(t *totals) float64 {
		if len(t.offsets) == 0 {
			return absent()
		}
		if !slices.IsSorted(t.offsets) {
			slices.Sort(t.offsets)
		}
		return (stats.Percentile(t.offsets, level) - t.offsets[0]) / 1e6
	}
}

// degraded returns 1 if the p99 of the schedule lag is above 500 ms.
func (t *totals) degraded() float64 { return degradedOf(t.get("replay_sched_lag_p99")) }

// degradedOf returns 1 if a lag in ms is above 500.
func degradedOf(p float64) float64 {
	switch {
	case math.IsNaN(p):
		return absent()
	case p > 500:
		return 1
	}
	return 0
}
