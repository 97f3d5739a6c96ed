package plan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// TestConvergence: a series ends when its statistic is known well enough, and never before three runs that have it.
func TestConvergence(t *testing.T) {
	limit := 0.1
	for _, c := range []struct {
		mode, stat string
		ms         []float64 // latency of each run
		want       bool
	}{
		{"cv", "avg", []float64{100, 101}, false},
		{"cv", "avg", []float64{100, 101, 102}, true},
		{"cv", "avg", []float64{100, 150, 200}, false},
		{"ci_width", "p50", []float64{100, 100.5, 101}, true},
		{"ci_width", "p50", []float64{100, 110, 120}, false},
		{"cv", "mode", []float64{100, 100, 100}, false}, // no such statistic
		{"cv", "avg", []float64{0, 0, 0}, false},        // of a mean of 0 there is no share
		{"distribution", "", []float64{100, 100, 100}, true},
		{"distribution", "", []float64{100, 100, 900}, false},
	} {
		r := sweep(9, "")
		r.MultiRun.Convergence = &config.Convergence{Metric: "request_latency", Mode: c.mode, Stat: c.stat, Threshold: &limit}
		test := newConvergence(r)
		test.values = func(one *trial) ([]float64, error) {
			v := one.run.Profiling.Value("request_latency", metric.Avg)
			return []float64{v, v + 1, v + 2, v + 3, v + 4, v + 5}, nil
		}
		failed := &trial{err: fmt.Errorf("the server is gone")}
		list := []*trial{failed}
		for _, ms := range c.ms {
			list = append(list, &trial{run: latencies(t, ms)})
			list[len(list)-1].run.Profiling.Valid = 1
		}
		if got := test.converged(list); got != c.want {
			t.Errorf("%s of %s over %v: %v", c.mode, c.stat, c.ms, got)
		}
	}
	if newConvergence(sweep(9, "")).converged(nil) {
		t.Error("a series without a test has converged")
	}
}

// TestRequestValues: the values are those of measured requests that succeeded.
func TestRequestValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	line := func(phase string, cut bool, failure string, value string) string {
		return fmt.Sprintf(`{"metadata":{"benchmark_phase":%q,"was_cancelled":%v},"metrics":{"m":{"value":%s}},"error":%s}`+"\n", phase, cut, value, failure)
	}
	text := line("profiling", false, "null", "1.5") + line("warmup", false, "null", "2") + line("profiling", true, "null", "3") +
		line("profiling", false, `{"code":500}`, "4") + line("profiling", false, "null", `[5]`) + line("profiling", false, "null", "6")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := requestValues(path, "m"); err != nil || fmt.Sprint(got) != "[1.5 6]" {
		t.Errorf("%v %v", got, err)
	}
	if err := os.WriteFile(path, []byte(text+"{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := requestValues(path, "m"); err == nil || !strings.Contains(err.Error(), "r.jsonl:7: ") {
		t.Error(err)
	}
	if _, err := requestValues(path+"x", "m"); err == nil {
		t.Error("a file that is not there has values")
	}
}

// TestConvergenceSentence: the terminal and the aggregate file say whether the repetitions ended because the statistic was known well enough.
func TestConvergenceSentence(t *testing.T) {
	for _, c := range []struct {
		mode  string
		limit float64
		most  int
		ms    []float64
		want  string
	}{
		{"cv", 0.1, 9, []float64{100, 101, 102}, "Converged: request_latency p50, after 3 runs of at most 9: the coefficient of variation is 0.99 % (limit: below 10.0 %)."},
		// mean 187.5, sample deviation 85.39, t 3.182: the interval is 2 * 3.182 * 85.39 / 2 = 271.8 ms wide.
		{"ci_width", 0.1, 4, []float64{100, 150, 200, 300}, "Not converged: request_latency p50, in 4 runs: the 95 % confidence interval is 145 % of the mean wide (limit: below 10.0 %). Allow more runs with --num-profile-runs."},
		{"ci_width", 0.1, 10, []float64{100, 150, 200, 300}, "Not converged: request_latency p50, in 4 runs: the 95 % confidence interval is 145 % of the mean wide (limit: below 10.0 %). Make each run longer, or choose another --convergence-threshold."},
		{"cv", 0.1, 2, []float64{100, 100}, "Not converged: request_latency p50, in 2 runs: at least 3 successful runs with this metric are needed. Allow more runs with --num-profile-runs."},
		{"cv", 0.1, 4, []float64{0, 0, 0}, "Not converged: request_latency p50, in 0 runs: at least 3 successful runs with this metric are needed. Check the runs that failed, and that --convergence-metric names a metric of this run."},
		{"distribution", 0.1, 4, []float64{0, 0, 0}, "Not converged: request_latency, in 3 runs: the records of the runs do not have enough values. Choose another --convergence-metric."},
	} {
		var out strings.Builder
		i := invocation{Streams: Streams{Out: &out}, run: sweep(c.most, "")}
		i.run.Sweep, i.run.MultiRun.ConfidenceLevel, i.run.Artifacts.Dir = nil, 0.95, t.TempDir()
		i.run.MultiRun.NumRuns = c.most
		i.run.MultiRun.Convergence = &config.Convergence{Metric: "request_latency", Mode: c.mode, Stat: "p50", Threshold: &c.limit}
		var list []*trial
		for n, ms := range c.ms {
			list = append(list, &trial{n: n, run: latencies(t, ms)})
			list[len(list)-1].run.Profiling.Valid = 1
		}
		i.run.Artifacts.Records = nil
		if err := i.aggregate(&config.Cell{}, list); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.HasSuffix(got, "\n"+c.want+"\n") {
			t.Errorf("%q, want %q", got, c.want)
		}
		var file struct {
			Metadata struct {
				Convergence struct {
					Converged bool
					Summary   string
					Runs      int `json:"num_runs"`
				}
			}
		}
		text, err := os.ReadFile(filepath.Join(i.run.Artifacts.Dir, "aggregate", "profile_export_aiperf_aggregate.json"))
		if err == nil {
			err = json.Unmarshal(text, &file)
		}
		if o := file.Metadata.Convergence; err != nil || o.Converged != strings.HasPrefix(c.want, "Converged") || o.Summary != c.want || !strings.Contains(c.want, fmt.Sprintf(" %d runs", o.Runs)) {
			t.Errorf("%v: the file has %+v", err, o)
		}
	}
}

// TestSearchConverges: the runs of a value end when its statistic is known well enough, but not before the requested replicates.
func TestSearchConverges(t *testing.T) {
	testhome.Slow(t)
	for replicates, want := range map[int]int{0: 3, 4: 5} {
		_, _, told, tried, _, err := searched(t, func(r *config.Run) {
			limit := 0.1
			r.MultiRun.NumRuns, r.Sweep.SLAReplicates = 6, replicates
			r.MultiRun.Convergence = &config.Convergence{Metric: "request_latency", Mode: "cv", Stat: "avg", MinRuns: 2, Threshold: &limit}
		})
		if err != nil {
			t.Fatal(err, told)
		}
		if n := slices.IndexFunc(tried, func(x int) bool { return x != tried[0] }); n != want {
			t.Errorf("%d replicates: %d runs of the first value, want %d: %v", replicates, n, want, tried)
		}
	}
}
