package adaptive

import (
	"math"
	"slices"
	"time"
)

// Request is a successful request. Missing values are NaN.
type Request struct {
	Latency    float64 // ms, to the end of the answer
	FirstToken float64 // ms
	InterToken float64 // ms, average
	Tokens     float64 // output tokens
}

// Window holds the requests that ended between two instants.
type Window struct {
	From, To  time.Time
	Requests  []Request // successful requests
	Errors    int
	Cancelled int
}

// total returns the number of requests that ended.
func (w *Window) total() int { return len(w.Requests) + w.Errors + w.Cancelled }

// seconds returns the length of the window.
func (w *Window) seconds() float64 { return w.To.Sub(w.From).Seconds() }

func (w *Window) perSecond(n float64) float64 {
	if s := w.seconds(); s > 0 {
		return n / s
	}
	return 0
}

// values returns the values of the requests that have one, ascending.
func (w *Window) values(of func(r *Request) float64) []float64 {
	var list []float64
	for i := range w.Requests {
		if v := of(&w.Requests[i]); !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// tokens returns the sum of output tokens.
func (w *Window) tokens() (sum float64) {
	for i := range w.Requests {
		if n := w.Requests[i].Tokens; !math.IsNaN(n) {
			sum += n
		}
	}
	return sum
}

// good returns the number of requests that individually meet every condition on a per-request metric.
func (w *Window) good(all []Condition) (n float64) {
	for i := range w.Requests {
		bad := slices.ContainsFunc(all, func(c Condition) bool {
			each := perRequest(c.Metric)
			return each != nil && !c.holds(each(&w.Requests[i])) // NaN meets no condition
		})
		if !bad {
			n++
		}
	}
	return n
}

// failuresDecide reports whether the conditions alone can judge a window without successes. That is so if each condition concerns failures or cancellations and
// the window has such requests.
func (w *Window) failuresDecide(all []Condition) bool {
	about := func(m *measure) bool {
		return slices.ContainsFunc(all, func(c Condition) bool { return measures[c.Metric] == m })
	}
	for _, c := range all {
		if m := measures[c.Metric]; m != &failures && m != &cancellations {
			return false
		}
	}
	return !(w.Errors > 0 && w.Cancelled > 0) && (w.Errors == 0 || about(&failures)) && (w.Cancelled == 0 || about(&cancellations))
}
