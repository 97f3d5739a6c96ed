package htmlreport

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/report/runfiles"
)

// maxRows is the largest number of single requests in a page. Figures, lines and shapes always cover all requests.
const maxRows = 20000

// sample selects the requests that a page contains. If there are more than most, it takes failures up to a quarter of the room, the slowest by three
// measures, and every k-th of the others by start.
func sample(q *runfiles.Requests, most int) []int {
	var all []int
	for i := range q.Len() {
		if !q.Warmup[i] {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(q.Start[a], q.Start[b]) })
	if len(all) <= most {
		return all
	}
	chosen := map[int]bool{}
	for _, i := range all {
		if q.Failure[i] != "" && len(chosen) < most/4 {
			chosen[i] = true
		}
	}
	for _, tag := range []string{"time_to_first_token", "inter_token_latency", "request_latency"} {
		v, ok := q.Column(tag)
		if !ok {
			continue
		}
		slowest := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return math.IsNaN(v[i]) })
		slices.SortStableFunc(slowest, func(a, b int) int { return cmp.Compare(v[b], v[a]) })
		for _, i := range slowest[:min(len(slowest), most/200)] {
			chosen[i] = true
		}
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return chosen[i] })
	room := most - len(chosen)
	for k := range room {
		chosen[rest[k*len(rest)/room]] = true
	}
	return slices.DeleteFunc(all, func(i int) bool { return !chosen[i] })
}

// requestRow is a request for the waterfall. It holds when it was due, started, gave its first token and ended (s since the first request, -1 =
// never), its input and output tokens, and the number of its error in the page's list of failures (0 = none). The last value is when its reasoning
// ended, -1 = none.
type requestRow [8]float64

// rows returns the selected requests, and the failures that they refer to.
func rows(q *runfiles.Requests, chosen []int, c *clock) (list []requestRow, failures, ids []string) {
	ttft, _ := q.Column("time_to_first_token")
	said, _ := q.Column("time_to_first_output_token")
	isl, _ := q.Column("input_sequence_length")
	osl, _ := q.Column("output_sequence_length")
	number := map[string]int{"": 0}
	value := func(v []float64, i int) float64 {
		if v == nil || math.IsNaN(v[i]) {
			return -1
		}
		return v[i]
	}
	round := func(v float64) float64 { return math.Round(v*1e5) / 1e5 }
	for _, i := range chosen {
		start, end := c.at(q.Start[i]), c.at(q.End[i])
		due, first, spoke := start, -1.0, -1.0
		if at := cmp.Or(q.Due[i], q.Issued[i]); at > 0 && at < q.Start[i] {
			due = c.at(at)
		}
		if v := value(ttft, i); v >= 0 {
			first = round(start + v/1e3)
			if out := value(said, i); out > v {
				spoke = round(start + out/1e3)
			}
		}
		if _, ok := number[q.Failure[i]]; !ok {
			failures = append(failures, q.Failure[i])
			number[q.Failure[i]] = len(failures)
		}
		list = append(list, requestRow{round(due), round(start), first, round(end), value(isl, i), value(osl, i), float64(number[q.Failure[i]]), spoke})
		ids = append(ids, q.ID[i])
	}
	return list, failures, ids
}
