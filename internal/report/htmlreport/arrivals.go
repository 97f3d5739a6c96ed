package htmlreport

import (
	"cmp"
	"math"

	"aiperf/internal/base/sorting"
	"aiperf/internal/report/runfiles"
)

// maxArrivals is the largest number of messages whose times are in a page.
const maxArrivals = 60000

// arrivals returns the times between the messages of each chosen request after its first, in units of 10 µs. If not all fit, the slowest requests come first; the others
// have none. nil = no request has any.
func arrivals(q *runfiles.Requests, chosen []int, room int) [][]int {
	order := make([]int, len(chosen))
	for k := range order {
		order[k] = k
	}
	length := func(k int) int64 { return q.End[chosen[k]] - q.Start[chosen[k]] }
	sorting.Stable(order, func(a, b int) int { return cmp.Compare(length(b), length(a)) })
	list, found := make([][]int, len(chosen)), false
	for _, k := range order {
		gaps := q.Gaps(chosen[k])
		if len(gaps) == 0 || len(gaps) > room {
			continue
		}
		room, found = room-len(gaps), true
		sum, last := 0.0, 0
		for _, g := range gaps { // rounds instants, so that errors do not add up
			sum += g
			at := int(math.Round(sum * 100))
			list[k], last = append(list[k], at-last), at
		}
	}
	if !found {
		return nil
	}
	return list
}
