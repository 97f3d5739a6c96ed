package pipeline

import (
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

// Observer receives every row once, in the order of the files, from a single goroutine. It must copy what it stores of a row, and it must not block.
type Observer interface {
	Observe(row *metric.Row)
}

// aggregate is the observer that every pipeline has. It reduces rows by the kind and the phase of their requests.
type aggregate struct {
	profiling, warmup *metric.Reducer
	phases            map[int]*metric.Reducer // by index over all phases; only phases with their own reducer
}

// columnMemory is the number of bytes from which values of requests are kept in a temporary file: about a million requests, or 25 million tokens.
const columnMemory = 128 << 20

func newAggregate(opts *Options) *aggregate {
	store := stats.NewStore(opts.SpillDir, columnMemory)
	reducer := func() *metric.Reducer {
		r := opts.Metrics.NewReducer()
		r.KeepIn(store)
		return r
	}
	a := &aggregate{profiling: reducer(), warmup: reducer(), phases: map[int]*metric.Reducer{}}
	for _, index := range opts.Split {
		a.phases[index] = reducer()
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
