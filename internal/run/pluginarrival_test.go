package run

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
)

// gapsOf runs with an arrival pattern and returns the gaps between the instants at which requests were due, in ms.
func gapsOf(t *testing.T, pattern string, rate float64, requests int) (gaps []float64, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a")
	b := whole(dir, "mock://?ttft=0&itl=0&tokens=1", requests)
	p := &b.Phases[0]
	p.Type, p.Rate, p.Concurrency = config.PhaseType(pattern), &rate, nil
	if requests > 1000 {
		p.Concurrency = ptr(1) // most arrivals are skipped
	}
	b.Environment.Timing.MaxCatchup = 10 // a busy machine moves no arrival
	seed := config.Seed("7")
	all := config.Default()
	all.Benchmark = *b
	if err := all.Validate(); err != nil {
		return nil, err
	}
	if _, err := Run(t.Context(), b, &seed, Options{Err: io.Discard}); err != nil {
		return nil, err
	}
	var due []float64
	lines := bufio.NewScanner(strings.NewReader(textsOf(t, dir, "profile_export.jsonl")["profile_export.jsonl"]))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one struct {
			Metadata struct {
				Due float64 `json:"scheduled_ns"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		due = append(due, one.Metadata.Due/1e6)
	}
	slices.Sort(due)
	for i := 1; i < len(due); i++ {
		gaps = append(gaps, due[i]-due[i-1])
	}
	return gaps, nil
}

// TestArrivalPlugin: requests are due at the intervals of the plug-in, the same ones for the same seed. A plug-in that ends, or whose time does not
// pass, ends the run with an error that names it.
func TestArrivalPlugin(t *testing.T) {
	testhome.Slow(t)
	places, err := filepath.Abs("testdata/arrivals")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(plugin.PathVariable, places)
	first, err := gapsOf(t, "waves", 400, 60)
	if err != nil {
		t.Fatal(err)
	}
	second, err := gapsOf(t, "waves", 400, 60)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 59 || len(second) != 59 || slices.Max(first) > 5.1 || slices.Max(first) < 3 {
		t.Fatalf("gaps %v", first)
	}
	for i := range first {
		if math.Abs(first[i]-second[i]) > 0.01 {
			t.Errorf("gap %d: %v ms, then %v ms", i, first[i], second[i])
		}
	}
	for pattern, want := range map[string]string{
		"ends":  `plug-in arrival_pattern:ends: intervals: the program ended unexpectedly (exit status 1); its last line on standard error: "no more gaps"`,
		"stops": "plug-in arrival_pattern:stops: intervals: all intervals are 0", "poison": `"poison" is not one of`,
	} {
		if _, err := gapsOf(t, pattern, 50_000, 50_000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
