package weka

import (
	"cmp"
	"slices"

	"aiperf/internal/base/sorting"
)

// Place is a turn in a session of a trace.
type Place struct{ Session, Turn int }

// interval is a request on the clock of the trace, in ms.
type interval struct {
	from, to float64
	place    Place
}

// setOrder sets for every turn what had been answered in the other sessions before it was sent. This is the last answered turn of each session,
// without turns that another one of them had already waited for. Turns that overlap have no order.
func setOrder(sessions []Session) {
	lists := make([][]interval, len(sessions))
	for i := range sessions {
		for k, t := range sessions[i].Turns {
			if t.Timestamp != nil {
				lists[i] = append(lists[i], interval{*t.Timestamp, *t.Timestamp + t.Took, Place{i, k}})
			}
		}
		sorting.Sort(lists[i], func(a, b interval) int {
			return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from), cmp.Compare(a.place.Turn, b.place.Turn))
		})
	}
	for i := range sessions {
		turns := sessions[i].Turns
		for k := range turns {
			if turns[k].Timestamp != nil {
				turns[k].After = frontier(lists, i, *turns[k].Timestamp)
			}
		}
	}
}

// frontier returns the turns that had been answered at an instant, in all sessions except but.
func frontier(lists [][]interval, but int, at float64) (places []Place) {
	var last []interval
	for i, list := range lists {
		if i == but {
			continue
		}
		n, _ := slices.BinarySearchFunc(list, at, func(v interval, at float64) int {
			if v.to <= at {
				return -1
			}
			return 1
		})
		for n--; n >= 0 && list[n].from >= at; n-- { // a turn that started at the same instant has no order with it
		}
		if n >= 0 {
			last = append(last, list[n])
		}
	}
	for _, v := range last {
		if !slices.ContainsFunc(last, func(w interval) bool { return w.place != v.place && v.from < w.from && v.to <= w.from }) {
			places = append(places, v.place)
		}
	}
	return places
}
