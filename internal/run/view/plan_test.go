package view

import (
	"slices"
	"testing"

	"aiperf/internal/config"
)

// TestPlanOfPhases: of several measured phases the plan does not tell the load of one.
func TestPlanOfPhases(t *testing.T) {
	two, three := 2, 3
	b := &config.Benchmark{Datasets: []config.Dataset{{}}, Phases: []config.Phase{
		{Name: "warm", Kind: config.KindWarmup, Type: config.PhaseConcurrency, Concurrency: &two},
		{Name: "low", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Concurrency: &two},
	}}
	if p := DescribePlan(b); !slices.Contains(p.What, "2 in flight") {
		t.Errorf("%q", p.What)
	}
	b.Phases = append(b.Phases, config.Phase{Name: "high\x1b", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Concurrency: &three})
	if p := DescribePlan(b); !slices.Contains(p.What, `2 measured phases: low, high\x1b`) {
		t.Errorf("%q", p.What)
	}
}
