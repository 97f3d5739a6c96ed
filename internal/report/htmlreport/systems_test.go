package htmlreport

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/report/systems"
)

// TestSystemsPage: the table of points against second formulas over the files of the runs: the figure per GPU from requests and answers, the cost
// from GPU seconds and tokens; without a count of GPUs there is none. The page loads nothing and publishes no directory.
func TestSystemsPage(t *testing.T) {
	cpu, gpu := filepath.Join(recorded, "multi_c1_c4_c8"), filepath.Join(recorded, "single_gpu_c2")
	c, err := systems.Collect(systems.Options{Paths: []string{cpu, gpu}, Prices: []float64{3.6}, Labels: []string{"old", "new"}, Warn: t.Errorf, Spelled: systems.Spelled{GPUs: "--gpus"}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := Systems(c, "test")
	if err != nil {
		t.Fatal(err)
	}
	alone(t, page)
	text, err := os.ReadFile(filepath.Join(gpu, "c2", "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]json.RawMessage
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	avg := func(tag string) float64 {
		var one struct{ Avg float64 }
		if err := json.Unmarshal(d[tag], &one); err != nil {
			t.Fatal(err)
		}
		return one.Avg
	}
	const gpus, price = 2, 3.6
	answers := avg("request_throughput") * avg("output_sequence_length") // tokens/s
	gpuSeconds := gpus / answers                                         // of one token
	for column, want := range map[string]float64{"Output tokens/s per GPU": answers / gpus, costColumn: gpuSeconds / 3600 * price * 1e6, "Energy, mJ/token out": avg("nvidia_energy_per_output_token")} {
		cells := regexp.MustCompile(`data-name="`+regexp.QuoteMeta(column)+`"><span>([^<]*)(<small>[^<]*)?`).FindAllStringSubmatch(string(page), -1)
		if len(cells) != 4 {
			t.Fatalf("%s: %q", column, cells)
		}
		for _, cell := range cells[:3] {
			if cell[1] != "–" || !strings.Contains(cell[2], "needs --gpus") && !strings.Contains(cell[2], "not measured") {
				t.Errorf("%s without GPUs: %q", column, cell)
			}
		}
		got, err := strconv.ParseFloat(strings.ReplaceAll(cells[3][1], ",", ""), 64)
		if err != nil || math.Abs(got-want) > 5e-3*want {
			t.Errorf("%s: %q, want %g", column, cells[3], want)
		}
	}
	for _, want := range []string{"Comparison of 2 systems", "old: the number of GPUs is unknown (no GPU telemetry), so there is no figure per GPU and no cost. Give it with --gpus.", "2 (telemetry)", "new, concurrency 2"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if dir, err := filepath.Abs(recorded); err != nil || strings.Contains(string(page), dir) {
		t.Errorf("the page contains the directory %s (%v)", dir, err)
	}
}
