package plan

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
)

// TestWarmedUp: the warm-up of a search has the load of what it warms up, and takes the place of the user's own.
func TestWarmedUp(t *testing.T) {
	rate, users, requests, length := 5.0, 3, 40, config.Seconds(60)
	phases := []config.Phase{
		{Name: "mine", Kind: config.KindWarmup, Type: config.PhaseConcurrency, Concurrency: &users, Requests: &users},
		{Name: "profiling", Kind: config.KindProfiling, Type: config.PhasePoisson, Rate: &rate, Requests: &requests, Duration: &length, Cancellation: &config.Cancellation{Rate: 5}},
	}
	got := warmedUp(phases, 7)
	if len(got) != 2 || got[1].Requests != &requests || got[1].Kind != config.KindProfiling {
		t.Fatalf("%+v", got)
	}
	w := got[0]
	if w.Kind != config.KindWarmup || w.Type != config.PhasePoisson || *w.Rate != 5 || *w.Duration != 7 || w.Requests != nil || w.Cancellation != nil || !w.ExcludeFromResults {
		t.Errorf("%+v", w)
	}
	if phases[0].Name != "mine" || *phases[1].Duration != 60 {
		t.Error("the phases of the user were changed")
	}
}

// TestPooledObjective: a pooled percentile is one over the requests of all runs, not the mean of each run's.
func TestPooledObjective(t *testing.T) {
	run := config.Default()
	run.Sweep = &config.Sweep{Type: config.SweepSearch, ObjectivePooling: "pooled", Objectives: []config.Objective{{Metric: "request_latency", Stat: "p90"}}}
	var told strings.Builder
	q := &search{invocation: &invocation{Streams: Streams{Err: &told}, run: run}, objective: metric.P90}
	set, err := metric.NewSelection(metric.Options{ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	var trials []*trial
	for k, values := range [][]float64{{1, 2, 3, 4}, {100, 200}} {
		tr := &trial{n: k, dir: t.TempDir(), run: &metric.Run{Profiling: set.NewReducer().Summary(metric.Window{})}}
		tr.run.Profiling.Valid = int64(len(values))
		var text strings.Builder
		for _, v := range values {
			fmt.Fprintf(&text, `{"metadata":{"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":%g,"unit":"ms"}}}`+"\n", v)
		}
		text.WriteString(`{"metadata":{"benchmark_phase":"warmup"},"metrics":{"request_latency":{"value":9999,"unit":"ms"}}}` + "\n")
		if err := os.WriteFile(artifact.NewLayout(tr.dir, "").Records(), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		trials = append(trials, tr)
	}
	// numpy.percentile([1, 2, 3, 4, 100, 200], 90)
	if got := q.value(&metric.SweepCell{}, trials); math.Abs(got-150) > 1e-12 {
		t.Errorf("%v, want 150; %s", got, told.String())
	}
	if err := os.Remove(artifact.NewLayout(trials[1].dir, "").Records()); err != nil {
		t.Fatal(err)
	}
	if q.value(&metric.SweepCell{}, trials); !strings.Contains(told.String(), "using the mean of the runs' percentiles") {
		t.Errorf("missing records: %q", told.String())
	}
}

// TestSearchWords: what a search may take has its cells, runs, requests, pauses and warm-ups.
func TestSearchWords(t *testing.T) {
	run := config.Default()
	warm := config.Seconds(5)
	run.MultiRun.Cooldown = 2
	run.Sweep = &config.Sweep{Type: config.SweepSearch, MaxIterations: 4, Cooldown: 10, SLAWarmup: &warm}
	// 3 pauses of 10 s between cells, 8 of 2 s within them, 12 warm-ups of 5 s
	if got, want := searchWords(run, 3, 20, 0, false), "a search of at most 4 cells, 12 runs, 240 requests, pauses and warm-ups of about 2 min"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := searchWords(run, 3, -1, 30*time.Second, false); !strings.HasPrefix(got, "a search of at most 4 cells, 12 runs, about 8 min in all") {
		t.Errorf("%q", got)
	}
}
