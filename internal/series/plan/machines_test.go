package plan

import (
	"context"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/series/capacity"
)

// TestOneUserHere: this process sends the requests of a single user; the machines send the cells, with a user or more on each.
func TestOneUserHere(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	run := config.Default()
	run.Artifacts.Dir, run.Machines.On = t.TempDir(), "local:4"
	run.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency}}
	run.Datasets = []config.Dataset{{Type: config.DatasetSynthetic}}
	one, err := ParseObjective("request_latency:p90<50")
	if err != nil {
		t.Fatal(err)
	}
	fewest, err := fewestUsers(run)
	if err != nil || fewest != 4 {
		t.Fatal(fewest, err)
	}
	tg := &target{invocation: invocation{ctx: t.Context(), run: run}, objectives: []Objective{one}, users: true, fewest: fewest}
	simulated, users := queue(set, tg, nil), []int{}
	tg.runner = func(ctx context.Context, b *config.Benchmark, seed *config.Seed, info metric.RunInfo, id string) (*metric.Run, error) {
		n := *b.Profiling().Concurrency
		if here := n == 1; here != tg.onlyHere {
			t.Errorf("%d users: only here: %v", n, tg.onlyHere)
		}
		if m, err := tg.onMachines(ctx); n == 1 && (m != nil || err != nil) {
			t.Errorf("machines for one user: %v, %v", m, err)
		}
		users = append(users, n)
		return simulated(ctx, b, seed, info, id)
	}
	if _, _, err := tg.Alone(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tg.Cell(t.Context(), 4, []float64{1}, func(float64, []capacity.Request) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if len(users) < 2 || users[0] != 1 || users[1] != 4 {
		t.Errorf("runs with %v users", users)
	}
}
