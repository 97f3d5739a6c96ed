package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/watch"
	"aiperf/internal/workload/adaptive"
)

// adaptivePhaseConfig is one in which every key has an effect.
func adaptivePhaseConfig() config.Phase {
	return config.Phase{
		Name: "main", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Concurrency: ptr(40), Duration: seconds(60), AdaptiveScale: true, AdaptiveSustain: seconds(3),
		AdaptiveWindow: seconds(2), AdaptiveLeast: ptr(5), AdaptiveVariable: "concurrency", AdaptiveMin: ptr(2.0), AdaptiveMax: ptr(30.0), AdaptiveStrategy: "ramp_until_fail",
		AdaptivePolicy: "sla_margin", AdaptiveBaseStep: ptr(6), AdaptiveMaxMultiplier: ptr(7), AdaptiveStepPercent: ptr(8.0),
		SLA: []config.SLAFilter{{MetricTag: "request_latency", Op: "lt", Threshold: 9}},
	}
}

// TestWiringOfAdaptivePhases: every key of an adaptive phase reaches the load or what steers it.
func TestWiringOfAdaptivePhases(t *testing.T) {
	wired := func(p config.Phase) string {
		cfg := &config.Default().Benchmark
		cfg.Phases = []config.Phase{{Name: "warmup", Kind: config.KindWarmup, Type: config.PhaseConcurrency, Concurrency: ptr(1), Requests: ptr(1)}, p}
		s, err := scenario(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if watch.NewAdaptiveLoad(cfg, "id", artifact.Layout{}, nil, nil) == nil {
			return fmt.Sprintf("%+v", s.Phases[1].Moving)
		}
		settings, window := watch.AdaptiveSettings(&p)
		return fmt.Sprintf("%+v %v %v %v %v %v %v", settings, window, s.Phases[1].Moving, s.Phases[1].Concurrency, s.Phases[1].Prefill, s.Phases[1].Rate, s.Phases[1].Users)
	}
	base := wired(adaptivePhaseConfig())
	want := "{Variable:concurrency Whole:true Min:2 Max:30 Conditions:[{Metric:request_latency Stat:p95 Op:lt Threshold:9}] Policy:sla_margin BaseStep:6 MaxMultiplier:7 " +
		"StepPercent:8 Least:5 Sustain:3s} 2s {concurrency 2} 30 0 0 0"
	if base != want {
		t.Errorf("%s\nwant\n%s", base, want)
	}
	for key, change := range map[string]func(p *config.Phase){
		"adaptive_scale":                     func(p *config.Phase) { p.AdaptiveScale = false },
		"adaptive_sustain_duration":          func(p *config.Phase) { p.AdaptiveSustain = seconds(4) },
		"adaptive_assessment_period":         func(p *config.Phase) { p.AdaptiveWindow = nil },
		"adaptive_min_completed_requests":    func(p *config.Phase) { p.AdaptiveLeast = nil },
		"adaptive_control_variable":          func(p *config.Phase) { p.AdaptiveVariable = "prefill_concurrency" },
		"adaptive_control_min":               func(p *config.Phase) { p.AdaptiveMin = nil },
		"adaptive_control_max":               func(p *config.Phase) { p.AdaptiveMax = nil },
		"adaptive_scale_step_policy":         func(p *config.Phase) { p.AdaptivePolicy = "fixed_percent_step" },
		"adaptive_scale_base_step":           func(p *config.Phase) { p.AdaptiveBaseStep = nil },
		"adaptive_scale_max_step_multiplier": func(p *config.Phase) { p.AdaptiveMaxMultiplier = nil },
		"adaptive_scale_step_percent":        func(p *config.Phase) { p.AdaptiveStepPercent = nil },
		"sla.metric_tag":                     func(p *config.Phase) { p.SLA[0].MetricTag = "ttft" },
		"sla.stat":                           func(p *config.Phase) { p.SLA[0].Stat = "max" },
		"sla.op":                             func(p *config.Phase) { p.SLA[0].Op = "le" },
		"sla.threshold":                      func(p *config.Phase) { p.SLA[0].Threshold = 8 },
	} {
		p := adaptivePhaseConfig()
		change(&p)
		if got := wired(p); got == base {
			t.Errorf("%s changes nothing: %s", key, got)
		}
	}
	users := adaptivePhaseConfig()
	users.Type, users.Rate, users.Users, users.AdaptiveVariable = config.PhaseUserCentric, ptr(5.0), ptr(50), "users"
	if got := wired(users); !strings.Contains(got, "{users 2} 40 0 5 30") {
		t.Error(got)
	}
	rate := adaptivePhaseConfig()
	rate.Type, rate.Rate, rate.AdaptiveVariable, rate.AdaptiveMin, rate.AdaptiveMax = config.PhasePoisson, ptr(5.5), "request_rate", nil, nil
	if got := wired(rate); !strings.Contains(got, "Whole:false Min:1 Max:5.5") || !strings.Contains(got, "{request_rate 1} 40 0 5.5 0") {
		t.Error(got)
	}
}

func readJSON[T any](t *testing.T, path string) (v T) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAdaptiveRun: a run against a simulated server of two places at a time, whose level any load keeps: the second window reaches the highest value
// and ends the phase, long before its duration. A rerun leaves no file of the one before.
func TestAdaptiveRun(t *testing.T) {
	testhome.Slow(t)
	dir := t.TempDir()
	b := whole(dir, "mock://?ttft=5ms&itl=1ms&capacity=2", 0)
	p := adaptivePhaseConfig()
	p.AdaptiveMin, p.AdaptiveMax, p.AdaptiveWindow, p.AdaptiveLeast = nil, ptr(4.0), seconds(1), nil
	p.SLA[0].Threshold = 1e7
	b.Phases = []config.Phase{p}
	var errs locked
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
	if err != nil {
		t.Fatal(err, errs.String())
	}
	if n := run.Profiling.Failed; n != 0 {
		t.Errorf("%d failed", n)
	}
	summary := readJSON[map[string]any](t, filepath.Join(dir, "phases", "main", "adaptive_scale_summary.json"))
	if summary["status"] != "incomplete" || summary["completed_reason"] != adaptive.AtMaximum || summary["last_passing_value"] != 4.0 {
		t.Errorf("%v", summary)
	}
	if len(run.Adaptive) != 1 || run.Adaptive[0].LastGood != 4 || run.Adaptive[0].Variable != "concurrency" || !strings.HasPrefix(run.Adaptive[0].Answer(), "The limit was not reached") ||
		len(run.Adaptive[0].Windows) != len(summary["candidates"].([]any)) || run.Adaptive[0].Windows[0].Level != "kept" || run.Adaptive[0].Windows[0].Next != 4 {
		t.Errorf("shown is %+v", run.Adaptive)
	}
	answered := 0.0
	for _, one := range summary["candidates"].([]any) {
		c := one.(map[string]any)
		if c["success_count"].(float64) > 0 && !(c["latency_p50_ms"].(float64) >= 5 && c["ttft_p50_ms"].(float64) >= 5) {
			t.Errorf("faster than the server answers: %v", c)
		}
		answered += c["success_count"].(float64)
	}
	if all := float64(run.Profiling.Valid); answered < 1 || answered > all {
		t.Errorf("%v requests in windows, %v in all", answered, all)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "phases", "main", "adaptive_scale_events.jsonl"))
	if err != nil || !bytes.Contains(lines, []byte(`"control_value_after":4,"control_value_before":1`)) || bytes.Count(lines, []byte("\n")) < 5 {
		t.Errorf("%v %s", err, lines)
	}
	manifest := readJSON[struct {
		Phases []map[string]any `json:"adaptive_phases"`
	}](t, filepath.Join(dir, "adaptive_scale_manifest.json"))
	if got := manifest.Phases[0]["events_path"]; got != "phases/main/adaptive_scale_events.jsonl" {
		t.Error(got)
	}
	if _, err := (artifact.Layout{Dir: dir}).Clear(func(string) bool { return false }); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"adaptive_scale_manifest.json", "phases"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}
