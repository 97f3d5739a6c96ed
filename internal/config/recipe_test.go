package config

import (
	"slices"
	"strings"
	"testing"
)

// TestGoodputRecipe: the search for goodput needs all three limits and a stream; it makes goodput's thresholds of the limits.
func TestGoodputRecipe(t *testing.T) {
	const name = "max-goodput-under-slo"
	ttft, itl, e2e, share := 200.0, 20.0, 3000.0, 0.9
	for _, lacking := range []Targets{{ITL: &itl, E2E: &e2e}, {TTFT: &ttft, E2E: &e2e}, {TTFT: &ttft, ITL: &itl}} {
		lacking.Streaming = true
		if _, _, err := Recipe(name, &lacking); err == nil || !strings.Contains(err.Error(), "--e2e-sla-ms") {
			t.Errorf("%+v: %v", lacking, err)
		}
	}
	all := Targets{TTFT: &ttft, ITL: &itl, E2E: &e2e, Attainment: &share, MeasuredPhase: "profiling"}
	if _, _, err := Recipe(name, &all); err == nil || !strings.Contains(err.Error(), "needs --streaming") {
		t.Errorf("without a stream: %v", err)
	}
	all.Streaming = true
	s, slos, err := Recipe(name, &all)
	if err != nil {
		t.Fatal(err)
	}
	if want := []SLAFilter{{"good_request_fraction", "avg", "ge", 0.9}}; !slices.Equal(s.SLAFilters, want) || s.SearchSpace[0].Path != "phases.profiling.concurrency" {
		t.Errorf("%+v over %+v", s.SLAFilters, s.SearchSpace)
	}
	if want := (SLOs{{"time_to_first_token", 200}, {"inter_token_latency", 20}, {"request_latency", 3000}}); !slices.Equal(slos, want) {
		t.Errorf("thresholds %v, want %v", slos, want)
	}
}
