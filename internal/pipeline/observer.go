package pipeline

import "aiperf/internal/metric"

// Observer sees every row once, in the order in which the files get them; one goroutine calls it. What it keeps of a row is its own; it must
// not wait.
type Observer interface {
	Observe(row *metric.Row)
}

// aggregate is the observer that every pipeline has: it reduces rows by the kind and the phase of their requests.
type aggregate struct {
	profiling, warmup *metric.Reducer
	phases            map[int]*metric.Reducer // by index over all phases; those that have one of their own
}

func newAggregate(set *metric.Selection, split []int) *aggregate {
	a := &aggregate{profiling: set.NewReducer(), warmup: set.NewReducer(), phases: map[int]*metric.Reducer{}}
	for _, index := range split {
		a.phases[index] = set.NewReducer()
	}
	return a
}

// Observe implements Observer.
func (a *aggregate) Observe(row *metric.Row) {
	if row.Meta.Warmup {
		a.warmup.Add(row)
	} else {
		a.profiling.Add(row)
	}
	if r := a.phases[row.Meta.PhaseIndex]; r != nil {
		r.Add(row)
	}
}
