package pipeline

import "aiperf/internal/measure/metric"

// Observer receives every row once, in the order of the files, from a single goroutine. It must copy what it stores of a row, and it must not block.
type Observer interface {
	Observe(row *metric.Row)
}

// aggregate is the observer that every pipeline has. It reduces rows by the kind and the phase of their requests.
type aggregate struct {
	profiling, warmup *metric.Reducer
	phases            map[int]*metric.Reducer // by index over all phases; only phases with their own reducer
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
