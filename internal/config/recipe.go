package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/sorting"
)

// Targets are the parameters of a recipe; nil and empty mean not given.
type Targets struct {
	TTFT, ITL, E2E *float64 // ms
	ErrorRate      *float64 // share of failed requests, 0 to 1
	Attainment     *float64 // share of good requests

	Pairs       string // input and output lengths: 128/128,512/256
	Style       string // for max-concurrency-under-sla
	Degradation *float64
	Metric      string
	Stat        string

	Concurrency                []int // for pareto-sweep
	ConcurrencyRange           [2]*int
	ISLRange, OSLRange         [2]*int
	ConcurrencySteps           *int
	ISLSteps, OSLSteps         *int
	Streaming                  bool
	DatasetName, MeasuredPhase string
}

// recipe returns the sweep of a recipe (spec: timing, section 14.1).
type recipe func(t *Targets) (*Sweep, error)

var recipes = map[string]recipe{
	"max-throughput-ttft-sla":   maxThroughputTTFT,
	"max-throughput-itl-sla":    maxThroughputITL,
	"max-concurrency-under-sla": maxConcurrencyUnderSLA,
	"max-goodput-under-slo":     maxGoodput,
	"concurrency-ramp":          concurrencyRamp,
	"prefill-ttft-curve":        prefillCurve,
	"decode-itl-curve":          decodeCurve,
	"pareto-sweep":              paretoSweep,
}

// Recipe returns the sweep or search of a named recipe, and its goodput thresholds.
func Recipe(name string, t *Targets) (*Sweep, SLOs, error) {
	sweepFor, ok := recipes[name]
	if !ok {
		return nil, nil, fmt.Errorf("there is no recipe %s", name)
	}
	s, err := sweepFor(t)
	if err != nil {
		return nil, nil, err
	}
	s.RecipeName, s.IterationOrder = name, "repeated"
	var slos SLOs
	if name == "max-goodput-under-slo" {
		slos.Set("time_to_first_token", *t.TTFT)
		slos.Set("inter_token_latency", *t.ITL)
		slos.Set("request_latency", *t.E2E)
	}
	return s, slos, nil
}

func (t *Targets) phase() string { return "phases." + t.MeasuredPhase + "." }

func (t *Targets) streams(what string) error {
	if t.Streaming {
		return nil
	}
	return fmt.Errorf("needs --streaming: %s is only seen in a stream", what)
}

// between returns a range with its defaults filled in. It must be increasing.
func between(r [2]*int, low, high int, what string) (int, int, error) {
	if r[0] != nil {
		low = *r[0]
	}
	if r[1] != nil {
		high = *r[1]
	}
	if low >= high {
		return 0, 0, fmt.Errorf("--%s-min %d is not below --%s-max %d", what, low, what, high)
	}
	return low, high, nil
}

// logSteps returns integers in equal ratios from low to high, both included, without duplicates.
func logSteps(low, high, steps int) []any {
	var list []any
	last := 0
	for i := range steps {
		f := math.Exp(math.Log(float64(low)) + (math.Log(float64(high))-math.Log(float64(low)))*float64(i)/float64(steps-1))
		if v := max(1, int(math.RoundToEven(f))); v > last {
			list = append(list, v)
			last = v
		}
	}
	return list
}

func orInt(p *int, def int) int {
	if p != nil {
		return *p
	}
	return def
}

// overConcurrency returns a search over the concurrency of the measured phase.
func (t *Targets) overConcurrency(planner, prior, metric string, iterations, initial int, filters ...SLAFilter) (*Sweep, error) {
	low, high, err := between(t.ConcurrencyRange, 1, 1000, "concurrency")
	if err != nil {
		return nil, err
	}
	s := DefaultSearch()
	s.Planner, s.MaxIterations, s.InitialPoints, s.SLAFilters = planner, iterations, initial, filters
	s.SearchSpace = []SearchDimension{{Path: t.phase() + "concurrency", Low: float64(low), High: float64(high), Kind: "int", Prior: prior}}
	s.Objectives = []Objective{{Metric: metric, Stat: "avg", Direction: "maximize"}}
	return s, nil
}

// DefaultSearch returns a search with its defaults and without a space.
func DefaultSearch() *Sweep {
	return &Sweep{
		Type: SweepSearch, IterationOrder: "repeated", Planner: "bayesian", InitialPoints: 5, PlateauWindow: 8, PlateauThreshold: 0.01,
		ImprovementPatience: 10, ObjectivePooling: "mean", MonotonicStabilityTrials: 2, SLAPrecision: "normal", ConstraintMode: "penalty",
	}
}

func maxThroughputTTFT(t *Targets) (*Sweep, error) {
	if t.TTFT == nil {
		return nil, fmt.Errorf("needs --ttft-sla-ms")
	}
	if err := t.streams("the time to first token"); err != nil {
		return nil, err
	}
	return t.overConcurrency("bayesian", "log-uniform", "output_token_throughput", 30, 5, SLAFilter{"time_to_first_token", "p95", "lt", *t.TTFT})
}

func maxThroughputITL(t *Targets) (*Sweep, error) {
	if t.ITL == nil {
		return nil, fmt.Errorf("needs --itl-sla-ms (or --tpot-sla-ms)")
	}
	if err := t.streams("the inter-token latency"); err != nil {
		return nil, err
	}
	return t.overConcurrency("bayesian", "log-uniform", "output_token_throughput", 30, 5, SLAFilter{"inter_token_latency", "p95", "lt", *t.ITL})
}

// filters returns the conditions of the given targets.
func (t *Targets) filters() (list []SLAFilter) {
	for _, one := range []struct {
		limit     *float64
		tag, stat string
		unit      float64
	}{{t.TTFT, "time_to_first_token", "p95", 1}, {t.ITL, "inter_token_latency", "p95", 1}, {t.E2E, "request_latency", "p99", 1}, {t.ErrorRate, "request_error_rate", "avg", 100}} {
		if one.limit != nil {
			list = append(list, SLAFilter{one.tag, one.stat, "lt", *one.limit * one.unit})
		}
	}
	return list
}

func maxConcurrencyUnderSLA(t *Targets) (*Sweep, error) {
	filters := t.filters()
	if len(filters) == 0 {
		return nil, fmt.Errorf("needs one of --ttft-sla-ms, --itl-sla-ms, --tpot-sla-ms, --e2e-sla-ms, --error-rate-sla")
	}
	if t.TTFT != nil || t.ITL != nil {
		if err := t.streams("the time of a token"); err != nil {
			return nil, err
		}
	}
	switch t.Style {
	case "", "smooth_isotonic":
		return t.overConcurrency("smooth_isotonic", "uniform", "output_token_throughput", 30, 1, filters...)
	case "monotonic":
		return t.overConcurrency("monotonic_sla", "uniform", "output_token_throughput", 20, 1, filters...)
	case "bo":
		return t.overConcurrency("bayesian", "log-uniform", "output_token_throughput", 30, 5, filters...)
	case "optuna":
		return t.overConcurrency("optuna", "log-uniform", "output_token_throughput", 30, 5, filters...)
	}
	low, high, err := between(t.ConcurrencyRange, 1, 1000, "concurrency")
	if err != nil {
		return nil, err
	}
	s := gridOf(Axis{t.phase() + "concurrency", logSteps(low, high, 8)})
	s.SLAFilters = filters
	s.PostProcess, err = process("sla_breach_knee", "sla_breach.json", map[string]any{"swept_param": t.phase() + "concurrency"})
	return s, err
}

func maxGoodput(t *Targets) (*Sweep, error) {
	if t.TTFT == nil || t.ITL == nil || t.E2E == nil {
		return nil, fmt.Errorf("needs --ttft-sla-ms, --tpot-sla-ms (or --itl-sla-ms) and --e2e-sla-ms")
	}
	if err := t.streams("the time of a token"); err != nil {
		return nil, err
	}
	share := 0.95
	if t.Attainment != nil {
		share = *t.Attainment
	}
	return t.overConcurrency("bayesian", "log-uniform", "goodput", 30, 5, SLAFilter{"good_request_fraction", "avg", "ge", share})
}

func gridOf(axes ...Axis) *Sweep {
	sorting.Sort(axes, func(a, b Axis) int { return strings.Compare(a.Path, b.Path) })
	return &Sweep{Type: SweepGrid, Parameters: axes}
}

// process returns a handler with its parameters.
func process(handler, file string, params map[string]any) (*PostProcess, error) {
	p := &PostProcess{Handler: handler, Filename: file}
	return p, p.Params.Encode(params)
}

func concurrencyRamp(t *Targets) (*Sweep, error) {
	low, high, err := between(t.ConcurrencyRange, 1, 1000, "concurrency")
	if err != nil {
		return nil, err
	}
	limit, metric, stat := 0.2, "request_latency", "p99"
	if t.Degradation != nil {
		limit = *t.Degradation
	}
	if t.Metric != "" {
		metric = t.Metric
	}
	if t.Stat != "" {
		stat = t.Stat
	}
	s := gridOf(Axis{t.phase() + "concurrency", logSteps(low, high, orInt(t.ConcurrencySteps, 8))})
	s.PostProcess, err = process("degradation_knee_detect", "degradation_knee.json",
		map[string]any{"threshold_pct": limit, "metric_tag": metric, "stat": stat, "swept_param": t.phase() + "concurrency"})
	return s, err
}

func prefillCurve(t *Targets) (*Sweep, error) {
	if err := t.streams("the time to first token"); err != nil {
		return nil, err
	}
	low, high, err := between(t.ISLRange, 256, 32768, "isl")
	if err != nil {
		return nil, err
	}
	path := "datasets." + t.DatasetName + ".prompts.isl"
	s := gridOf(Axis{path, logSteps(low, high, orInt(t.ISLSteps, 8))}, Axis{t.phase() + "concurrency", []any{1}})
	s.PostProcess, err = process("ttft_curve_fit", "prefill_curve.json", map[string]any{"metric_tag": "time_to_first_token", "stat": "avg", "swept_param": path})
	return s, err
}

func decodeCurve(t *Targets) (*Sweep, error) {
	if err := t.streams("the inter-token latency"); err != nil {
		return nil, err
	}
	low, high, err := between(t.ConcurrencyRange, 1, 200, "concurrency")
	if err != nil {
		return nil, err
	}
	short, long, err := between(t.OSLRange, 64, 1024, "osl")
	if err != nil {
		return nil, err
	}
	path := "datasets." + t.DatasetName + ".prompts.osl"
	s := gridOf(Axis{t.phase() + "concurrency", logSteps(low, high, orInt(t.ConcurrencySteps, 6))}, Axis{path, logSteps(short, long, orInt(t.OSLSteps, 4))})
	s.PostProcess, err = process("itl_surface_fit", "decode_itl_surface.json",
		map[string]any{"metric_tag": "inter_token_latency", "stat": "avg", "concurrency_param": t.phase() + "concurrency", "osl_param": path})
	return s, err
}

// paretoSweep combines pairs of input and output lengths with concurrencies.
func paretoSweep(t *Targets) (*Sweep, error) {
	if t.Pairs == "" {
		return nil, fmt.Errorf("needs --isl-osl-pairs, for example 128/128,512/256")
	}
	if err := t.streams("the time to first token"); err != nil {
		return nil, err
	}
	concurrency := t.Concurrency
	if concurrency == nil {
		concurrency = []int{1, 4, 16, 64, 256}
	}
	s := &Sweep{Type: SweepScenarios}
	for pair := range strings.SplitSeq(t.Pairs, ",") {
		in, out, ok := strings.Cut(strings.TrimSpace(pair), "/")
		isl, err1 := strconv.Atoi(strings.TrimSpace(in))
		osl, err2 := strconv.Atoi(strings.TrimSpace(out))
		if !ok || err1 != nil || err2 != nil || isl < 1 || osl < 1 {
			return nil, fmt.Errorf("--isl-osl-pairs: %q is not a pair of lengths; write 128/128,512/256", pair)
		}
		for _, c := range concurrency {
			one, err := t.shape(isl, osl, c)
			if err != nil {
				return nil, err
			}
			s.Runs = append(s.Runs, one)
		}
	}
	if len(s.Runs) < 2 {
		return nil, fmt.Errorf("needs two points or more: more pairs, or more values of --concurrency")
	}
	var err error
	s.PostProcess, err = process("pareto_sweep_export", "pareto_sweep.json", map[string]any{
		"x_metric": "time_to_first_token", "x_stat": "p95", "y_metric": "output_token_throughput", "y_stat": "avg",
		"isl_key": "isl", "osl_key": "osl", "concurrency_key": "concurrency",
	})
	return s, err
}

// shape returns one point of paretoSweep.
func (t *Targets) shape(isl, osl, concurrency int) (Scenario, error) {
	one := Scenario{Name: fmt.Sprintf("shape_%d_%d_c%d", isl, osl, concurrency)}
	one.Values = Values{{"isl", []any{isl}}, {"osl", []any{osl}}, {"concurrency", []any{concurrency}}}
	err := one.Benchmark.Encode(map[string]any{
		"datasets": []any{map[string]any{"name": t.DatasetName, "prompts": map[string]any{"isl": isl, "osl": osl}}},
		"phases":   []any{map[string]any{"name": t.MeasuredPhase, "concurrency": concurrency}},
	})
	return one, err
}

// Values are the named values of a scenario, in order. Its directory name is derived from them.
type Values []Axis

// MarshalYAML writes a mapping.
func (v Values) MarshalYAML() (any, error) {
	n := mapping()
	for _, a := range v {
		one := &yaml.Node{}
		if err := one.Encode(a.Values[0]); err != nil {
			return nil, err
		}
		add(n, a.Path, one)
	}
	return n, nil
}

// UnmarshalYAML reads a mapping.
func (v *Values) UnmarshalYAML(n *yaml.Node) error {
	*v = nil
	return eachPair(n, func(key string, value *yaml.Node) error {
		var one any
		err := value.Decode(&one)
		*v = append(*v, Axis{key, []any{one}})
		return err
	})
}

// AnalyzeReport makes a sweep also write the report of GenAI-Perf's analyze command.
func (r *Run) AnalyzeReport() (err error) {
	p := r.Profiling()
	load, value := "concurrency", 1.0
	switch {
	case p.Rate != nil:
		load, value = "rate", *p.Rate
	case p.Concurrency != nil:
		value = float64(*p.Concurrency)
	}
	params := map[string]any{"load": load, "value": value, "entries": r.Dataset().Entries}
	r.Sweep.PostProcess, err = process("genai_perf_analyze", "analyze_export_genai_perf.csv", params)
	return err
}
