package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
)

// latencies is a run whose requests took the given number of ms each.
func latencies(t *testing.T, ms ...float64) *metric.Run {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := set.NewReducer()
	for _, one := range ms {
		r.Add(set.Row(&record.Record{Start: 1e9, End: 1e9 + int64(one*1e6), WallOffset: 1e18},
			&record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: 1e9 + int64(one*1e6), Text: "a"}}}, record.Counts{Input: 5, Output: 8, Reasoning: -1}))
	}
	return &metric.Run{Profiling: r.Summary(metric.Window{})}
}

// sweptOver is a finished sweep: the latency of the runs at each value of concurrency; NaN is a run without the metric.
func sweptOver(t *testing.T, path string, values []float64, latency func(x float64) float64) *metric.SweepSummary {
	t.Helper()
	s := &metric.SweepSummary{}
	for _, x := range values {
		c := metric.SweepCell{Values: []metric.NamedValue{{Name: path, Value: x}}, Short: []metric.NamedValue{{Name: leaf(path), Value: x}}}
		if y := latency(x); math.IsNaN(y) {
			c.Runs = []*metric.Run{latencies(t)}
		} else {
			c.Runs = []*metric.Run{latencies(t, y)}
		}
		s.Cells = append(s.Cells, c)
	}
	return s
}

// processed is what a handler computes, as it is written.
func paramsOf(t *testing.T, text string) yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return *doc.Content[0]
}

func processed(t *testing.T, s *metric.SweepSummary, handler string, params string) map[string]any {
	t.Helper()
	p := &config.PostProcess{Handler: handler, Filename: "out.json"}
	p.Params = paramsOf(t, params)
	if err := checkHandler(p); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := (&invocation{}).postProcess(dir, p, s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	overConcurrency = "phases.profiling.concurrency"
	latencyOver     = "{swept_param: phases.profiling.concurrency, metric_tag: request_latency, stat: avg"
)

// TestKnees: the first value at which the latency is worse by more than a share, and the values around the end of a service level.
func TestKnees(t *testing.T) {
	s := sweptOver(t, overConcurrency, []float64{8, 1, 2, 4}, func(x float64) float64 { return 100 + x*x })
	knee := processed(t, s, "degradation_knee_detect", latencyOver+", threshold_pct: 0.1}")
	if knee["baseline_concurrency"] != 1.0 || knee["knee_concurrency"] != 4.0 || knee["knee_avg"] != 116.0 || len(knee["all_points"].([]any)) != 4 {
		t.Errorf("%v", knee)
	}
	if flat := processed(t, s, "degradation_knee_detect", latencyOver+", threshold_pct: 9}"); flat["knee_concurrency"] != nil {
		t.Errorf("%v", flat)
	}
	s.Conditions = []metric.Condition{{Tag: "request_latency", Stat: metric.Avg, Op: "lt", Limit: 110}}
	end := processed(t, s, "sla_breach_knee", "{swept_param: phases.profiling.concurrency}")
	first := end["first_failing_breach"].(map[string]any)
	if end["max_passing_concurrency"] != 2.0 || end["first_failing_concurrency"] != 4.0 || first["observed"] != 116.0 || end["monotonicity_check"] != true {
		t.Errorf("%v", end)
	}
	bumpy := sweptOver(t, overConcurrency, []float64{1, 2, 4}, func(x float64) float64 { return map[float64]float64{1: 100, 2: 200, 4: 100}[x] })
	bumpy.Conditions = s.Conditions
	if end = processed(t, bumpy, "sla_breach_knee", "{swept_param: phases.profiling.concurrency}"); end["monotonicity_check"] != false || end["max_passing_concurrency"] != 4.0 {
		t.Errorf("%v", end)
	}
}

// TestCurves: a line where it is one, a parabola where a line explains too little, and a reason where there is no curve. Coefficients are the
// ones the values were made with.
func TestCurves(t *testing.T) {
	const isl = "datasets.main.prompts.isl.mean"
	params := "{swept_param: " + isl + ", metric_tag: request_latency, stat: avg}"
	coefficients := func(out map[string]any) string {
		var list []string
		for _, c := range out["coefficients"].([]any) {
			list = append(list, fmt.Sprintf("%.3f", c))
		}
		return strings.Join(list, " ")
	}
	line := processed(t, sweptOver(t, isl, []float64{100, 200, 400}, func(x float64) float64 { return 20 + 0.5*x }), "ttft_curve_fit", params)
	if line["fit_form"] != "linear" || coefficients(line) != "0.500 20.000" || line["below_floor"] != false {
		t.Errorf("%v", line)
	}
	bowl := processed(t, sweptOver(t, isl, []float64{1, 2, 3, 4, 5}, func(x float64) float64 { return 10 + 4*(x-3)*(x-3) }), "ttft_curve_fit", params)
	if bowl["fit_form"] != "quadratic" || coefficients(bowl) != "4.000 -24.000 46.000" {
		t.Errorf("%v", bowl)
	}
	same := processed(t, sweptOver(t, isl, []float64{5, 5}, func(x float64) float64 { return 10 }), "ttft_curve_fit", params)
	if coefficients(same) != "0.000 10.000" || same["r_squared"] != 1.0 {
		t.Errorf("%v", same)
	}
	alone := processed(t, sweptOver(t, isl, []float64{1, 2}, func(x float64) float64 { return map[float64]float64{1: 5, 2: math.NaN()}[x] }), "ttft_curve_fit", params)
	if alone["error_reason"] != "1 cells have the metric; a curve needs 2" {
		t.Errorf("%v", alone)
	}
}

// TestSurfaceAndFront: the grid of two parameters has holes where no cell is; a cell that another one beats in both metrics is not on the front.
func TestSurfaceAndFront(t *testing.T) {
	s := &metric.SweepSummary{}
	for _, p := range [][3]float64{{1, 10, 100}, {2, 10, 150}, {2, 20, 90}} {
		s.Cells = append(s.Cells, metric.SweepCell{
			Values: []metric.NamedValue{{Name: overConcurrency, Value: int(p[0])}, {Name: "x.osl", Value: int(p[1])}},
			Short:  []metric.NamedValue{{Name: "concurrency", Value: int(p[0])}}, Runs: []*metric.Run{latencies(t, p[2], p[2])},
		})
	}
	out := processed(t, s, "itl_surface_fit", "{concurrency_param: phases.profiling.concurrency, osl_param: x.osl, metric_tag: request_latency, stat: avg}")
	if got := fmt.Sprint(out["surface"]); got != "map[concurrency:[1 2] itl_ms:[[100 <nil>] [150 90]] osl:[10 20]]" {
		t.Error(got)
	}
	s.Cells[1].Runs = []*metric.Run{latencies(t, 150)} // longer, and fewer requests: beaten by the first
	front := processed(t, s, "pareto_sweep_export", "{x_metric: request_latency, x_stat: avg, y_metric: request_count, y_stat: avg}")
	var optimal []bool
	for _, p := range front["cells"].([]any) {
		optimal = append(optimal, p.(map[string]any)["pareto_optimal"].(bool))
	}
	if fmt.Sprint(optimal) != "[false false true]" {
		t.Errorf("%v", front)
	}
}

// TestHandlersRefuse: an unknown handler or parameter is named.
func TestHandlersRefuse(t *testing.T) {
	if err := checkHandler(&config.PostProcess{Handler: "magic"}); err == nil || !strings.Contains(err.Error(), `"magic" is not one of degradation_knee_detect`) {
		t.Error(err)
	}
	if err := checkHandler(nil); err != nil {
		t.Error(err)
	}
	for params, want := range map[string]string{
		"{swept_param: c, metric_tag: request_latency, stat: p99, threshold_pct: 0.2}":  "",
		"{swept_param: c, metric_tag: request_latency, stat: p99, treshold_pct: 0.2}":   "treshold_pct is not a parameter of degradation_knee_detect (did you mean threshold_pct?)",
		"{swept_param: c, metric_tag: request_latency, stat: p99}":                      "threshold_pct is missing",
		"{swept_param: c, metric_tag: request_latency, stat: mode, threshold_pct: 0.2}": `stat "mode" is not a statistic`,
		"{swept_param: c, metric_tag: request_latency, stat: p99, threshold_pct: much}": `threshold_pct cannot be read: "much"`,
		"[1]": "params is not a mapping",
	} {
		p := &config.PostProcess{Handler: "degradation_knee_detect", Params: paramsOf(t, params)}
		if err := checkHandler(p); (err == nil) != (want == "") || want != "" && !strings.Contains(err.Error(), "sweep.post_process.params") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
	s := sweptOver(t, overConcurrency, []float64{1}, func(float64) float64 { return math.NaN() })
	for handler, want := range map[string]string{
		"degradation_knee_detect": `there is no statistic "mode"`, "ttft_curve_fit": `there is no statistic "mode"`,
		"itl_surface_fit": `there is no statistic "mode"`, "pareto_sweep_export": "there is no statistic",
	} {
		if _, err := handlers[handler].compute(s, &processing{Stat: "mode"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", handler, err)
		}
	}
	if _, err := degradationKnee(s, &processing{Metric: "request_latency", Stat: "avg", Swept: overConcurrency}); err == nil {
		t.Error("a knee of nothing")
	}
}

// searched lets a search run over an invented server, whose latency is 10 ms for every session at once.
func searched(t *testing.T, change func(r *config.Run)) (status int, out, told string, tried []int, history map[string]any, err error) {
	t.Helper()
	r := searchOf("monotonic_sla", "int", 1, 100)
	r.Models.Items = []config.Model{{Name: "m"}}
	r.Artifacts.Dir = filepath.Join(t.TempDir(), "out")
	r.Sweep.SLAFilters = []config.SLAFilter{{MetricTag: "request_latency", Stat: "avg", Op: "le", Threshold: 370}}
	r.Sweep.Objectives[0] = config.Objective{Metric: "request_latency", Stat: "avg", Direction: "maximize"}
	r.Phases[0].Requests = ptr(3)
	change(r)
	var stdout, stderr strings.Builder
	i := &invocation{Streams: Streams{Out: &stdout, Err: &stderr, Width: 90}, ctx: t.Context(), run: r}
	i.runner = func(_ context.Context, b *config.Benchmark, _ *config.Seed, _ metric.RunInfo, _ string) (*metric.Run, error) {
		n := *b.Profiling().Concurrency
		tried = append(tried, n)
		if n == 13 {
			return nil, fmt.Errorf("the server is gone")
		}
		run := latencies(t, float64(10*n))
		run.Profiling.Valid = 1
		return run, os.MkdirAll(b.Artifacts.Dir, 0o755)
	}
	status, err = i.searching()
	if text, fault := os.ReadFile(filepath.Join(r.Artifacts.Dir, "search_history.json")); fault == nil {
		if fault := json.Unmarshal(text, &history); fault != nil {
			t.Fatal(fault)
		}
	}
	return status, stdout.String(), stderr.String(), tried, history, err
}

// TestSearch: the search asks cell by cell, ends at the largest value that keeps its condition, and leaves its history.
func TestSearch(t *testing.T) {
	status, out, told, tried, history, err := searched(t, func(*config.Run) {})
	if err != nil || status != 0 {
		t.Fatal(status, err, told)
	}
	if tried[0] != 1 || tried[1] != 2 || !strings.Contains(out, "Search: best is ") || !strings.Contains(out, "request_latency 3") {
		t.Errorf("tried %v\n%s", tried, out)
	}
	edge := history["boundary_summary"].(map[string]any)
	high, low := edge["feasible_max"].(map[string]any), edge["infeasible_min"].(map[string]any)
	if b := low["first_breach"].(map[string]any); !(low["value"].(float64) > high["value"].(float64)) || b["metric_tag"] != "request_latency" || !(b["observed"].(float64) > b["threshold"].(float64)) {
		t.Errorf("%v", edge)
	}
	best := history["best_trials"].([]any)[0].(map[string]any)
	if best["iteration_idx"] != high["iteration_idx"] || best["objective_values"].([]any)[0] != high["objective_value"] || best["feasible"] != true || best["feasible_count"].(float64) < 2 {
		t.Errorf("best %v, edge %v", best, high)
	}
	if most := high["value"].(float64); most > 37 || most < 35 || history["convergence_reason"] != "converged" || len(history["iterations"].([]any)) != len(tried) {
		t.Errorf("%v", history)
	}
	if status, out, _, _, history, err = searched(t, func(r *config.Run) { r.Sweep.SLAFilters[0].Threshold = 1 }); status != 1 || err != nil || !strings.Contains(out, "no cell meets all conditions") || history["best_trials"].([]any)[0].(map[string]any)["feasible_count"] != 0. {
		t.Errorf("%d %v %s", status, err, out)
	}
	status, out, told, tried, _, err = searched(t, func(r *config.Run) { // without conditions, the lowest objective, three runs a cell
		r.Sweep.Planner, r.Sweep.SLAFilters, r.Sweep.MaxIterations, r.Sweep.SLAReplicates = "optuna", nil, 3, 2
		r.Sweep.Objectives[0].Direction = "minimize"
		r.Sweep.OutcomeConstraints = []config.OutcomeConstraint{{Metric: "request_latency", Op: "<", Bound: 1e6}}
	})
	if status != 0 || err != nil || len(tried) != 9 || !strings.Contains(told, "own Bayesian search") || !strings.Contains(out, "best is") {
		t.Errorf("%d %v, tried %v\n%s%s", status, err, tried, out, told)
	}
}

// TestSearchRefuses: an impossible search is refused before the first run.
func TestSearchRefuses(t *testing.T) {
	for want, change := range map[string]func(s *config.Sweep){
		"there is no metric magic":    func(s *config.Sweep) { s.Objectives[0].Metric = "magic" },
		`stat "mode" is not known`:    func(s *config.Sweep) { s.Objectives[0].Stat = "mode" },
		"there is no metric nonsense": func(s *config.Sweep) { s.SLAFilters[0].MetricTag = "nonsense" },
		"there is no metric rubbish": func(s *config.Sweep) {
			s.OutcomeConstraints = []config.OutcomeConstraint{{Metric: "rubbish", Op: "<"}}
		},
	} {
		_, _, _, tried, _, err := searched(t, func(r *config.Run) { r.MultiRun.NumRuns = 2; change(r.Sweep) })
		if err == nil || !strings.Contains(err.Error(), want) || len(tried) != 0 {
			t.Errorf("want %q: %v after %v", want, err, tried)
		}
	}
}

// TestCheckForecasts: a dry run says what all runs would do, and which cell cannot.
func TestCheckForecasts(t *testing.T) {
	r := asked(t, "http://h:1")
	if text, err := Check(t.Context(), r, Streams{}); err != nil || strings.Contains(text, "runs") {
		t.Errorf("%q %v", text, err)
	}
	r.MultiRun.NumRuns = 2
	r.Sweep = &config.Sweep{Type: config.SweepGrid, IterationOrder: "repeated", Parameters: config.Axes{{Path: overConcurrency, Values: []any{1, 2}}}}
	if text, err := Check(t.Context(), r, Streams{}); err != nil || !strings.HasPrefix(text, "2 cells, 4 runs, 20 requests") || !strings.Contains(text, "the first: ") {
		t.Errorf("%q %v", text, err)
	}
	q := asked(t, "http://h:1")
	q.Sweep = searchOf("bayesian", "int", 1, 8).Sweep
	if text, err := Check(t.Context(), q, Streams{}); err != nil || !strings.HasPrefix(text, "a search of at most 30 cells, 30 runs") {
		t.Errorf("%q %v", text, err)
	}
	r.Endpoint.Type = "magic"
	if _, err := Check(t.Context(), r, Streams{}); err == nil || !strings.Contains(err.Error(), "concurrency") {
		t.Error(err)
	}
}

// TestGatesAndResume: gates turn the status, leave JUnit and a summary of the step; a series continues after its finished runs.
func TestGatesAndResume(t *testing.T) {
	url, served := answering(t, 200)
	r := asked(t, url)
	r.MultiRun.NumRuns, r.MultiRun.Cooldown = 2, 0
	r.MultiRun.Convergence = &config.Convergence{Metric: "request_latency", Mode: "cv", Stat: "avg"}
	r.FailIf, r.JUnit = []string{"request_latency:avg>0"}, filepath.Join(t.TempDir(), "j.xml")
	step := filepath.Join(t.TempDir(), "step.md")
	var out, told strings.Builder
	streams := Streams{Out: &out, Err: &told, Width: 90, Version: "v", StepSummary: step}
	if status := Profile(t.Context(), r, streams); status != Gated || served.Load() != 10 || !strings.Contains(told.String(), "gate: ") {
		t.Fatalf("status %d after %d requests\n%s", status, served.Load(), told.String())
	}
	for _, path := range []string{r.JUnit, step, artifact.NewLayout(filepath.Join(r.Artifacts.Dir, "aggregate"), "").Dir} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	collated := ""
	_ = filepath.WalkDir(r.Artifacts.Dir, func(path string, _ os.DirEntry, _ error) error {
		if strings.HasSuffix(path, "_collated.json") {
			text, err := os.ReadFile(path)
			collated = string(text)
			return err
		}
		return nil
	})
	at := -1
	for _, key := range []string{"schema_version", "aiperf_version", "description", "metadata", "aggregation_type", "num_profile_runs", "num_successful_runs", "failed_runs", "run_labels",
		"cooldown_seconds", "metrics", "combined", "mean", "std", "p50", "p90", "p95", "p99", "count", "per_run"} { // in the Python tool's order
		k := strings.Index(collated, `"`+key+`":`)
		if k <= at {
			t.Errorf("%s is missing or out of its place in the requests of both runs:\n%.300s", key, collated)
		}
		at = k
	}
	r.Resume, r.FailIf = true, nil
	if status := Profile(t.Context(), r, streams); status != 0 || served.Load() != 10 || !strings.Contains(told.String(), "has already finished") {
		t.Errorf("status %d after %d requests\n%s", status, served.Load(), told.String())
	}
	seed := config.Seed("8")
	r.RandomSeed = &seed
	if status := Profile(t.Context(), r, streams); status != 1 || served.Load() != 10 || !strings.Contains(told.String(), "was run with other settings (another random seed)") {
		t.Errorf("status %d after %d requests\n%s", status, served.Load(), told.String())
	}
	r.Endpoint.Timeout = 77
	if status := Profile(t.Context(), r, streams); status != 1 || served.Load() != 10 || !strings.Contains(told.String(), "(endpoint.timeout: null, now 77)") {
		t.Errorf("status %d after %d requests\n%s", status, served.Load(), told.String())
	}
}

func ptr[T any](v T) *T { return &v }

// TestBoundaryWithoutConditions: without conditions every cell passes, so the highest measured value is the boundary.
func TestBoundaryWithoutConditions(t *testing.T) {
	_, _, told, tried, history, err := searched(t, func(r *config.Run) {
		r.Sweep.SLAFilters = nil
		r.Sweep.Planner, r.Sweep.MaxIterations = "bayesian", 3
		r.Sweep.Objectives[0].Direction = "minimize"
	})
	edge, ok := history["boundary_summary"].(map[string]any)
	if err != nil || !ok {
		t.Fatal(err, told, history)
	}
	high, ok := edge["feasible_max"].(map[string]any)
	if !ok || high["value"] != float64(slices.Max(tried)) || edge["infeasible_min"] != nil || edge["swept_dim_path"] == "" {
		t.Errorf("tried %v: %v", tried, edge)
	}
}
