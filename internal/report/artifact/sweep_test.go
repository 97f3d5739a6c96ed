package artifact

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
)

// unpacked reads a recorded file.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "sweep_runs", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// recordedSweep is the sweep of the recorded runs: two cells, two runs each.
func recordedSweep(t *testing.T) *metric.SweepSummary {
	t.Helper()
	s := &metric.SweepSummary{Confidence: 0.95, Trials: 2, Mode: "repeated", Runs: 4, Names: []string{"concurrency"}, Combined: 2}
	for cell := 1; cell <= 2; cell++ {
		c := metric.SweepCell{
			Label: fmt.Sprintf("phases.profiling.concurrency=%d", cell), Model: "plain",
			Values: []metric.NamedValue{{Name: "phases.profiling.concurrency", Value: cell}}, Short: []metric.NamedValue{{Name: "concurrency", Value: cell}},
		}
		for trial := 1; trial <= 2; trial++ {
			path := filepath.Join(t.TempDir(), "s.json")
			if err := os.WriteFile(path, unpacked(t, fmt.Sprintf("run_%d_%d.json", trial, cell)), 0o600); err != nil {
				t.Fatal(err)
			}
			run, err := ReadSummary(path)
			if err != nil || run.Profiling.Valid == 0 {
				t.Fatal(err)
			}
			c.Runs = append(c.Runs, run)
		}
		s.Cells = append(s.Cells, c)
	}
	return s
}

// differences lists where two JSON documents differ by more than 1e-9; null of the recorded one is absent in ours.
func differences(path string, got, want any) (list []string) {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for k, v := range w {
			if v != nil {
				list = append(list, differences(path+"."+k, g[k], v)...)
			}
		}
		for k := range g {
			if _, ok := w[k]; !ok {
				list = append(list, path+"."+k+" is not recorded")
			}
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return []string{fmt.Sprintf("%s has %d, want %d", path, len(g), len(w))}
		}
		for i := range w {
			list = append(list, differences(fmt.Sprintf("%s[%d]", path, i), g[i], w[i])...)
		}
	case float64:
		if g, ok := got.(float64); !ok || math.Abs(g-w) > 1e-9*math.Max(1, math.Abs(w)) {
			return []string{fmt.Sprintf("%s is %v, want %v", path, got, want)}
		}
	default:
		if got != want {
			return []string{fmt.Sprintf("%s is %v, want %v", path, got, want)}
		}
	}
	return list
}

func sameJSON(t *testing.T, got, want []byte) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if list := differences("", g, w); len(list) > 0 {
		t.Errorf("%d differences:\n%s", len(list), strings.Join(list[:min(len(list), 10)], "\n"))
	}
}

// TestSweepOfTheRecordedRuns: all figures and words of the aggregate of a recorded sweep are made again.
func TestSweepOfTheRecordedRuns(t *testing.T) {
	s := recordedSweep(t)
	dir := t.TempDir()
	if err := WriteSweep(dir, s); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	sameJSON(t, read("profile_export_aiperf_sweep.json"), unpacked(t, "sweep.json"))
	if got, want := string(read("profile_export_aiperf_sweep.csv")), string(unpacked(t, "sweep.csv")); got != want {
		g, w := strings.Split(got, "\r\n"), strings.Split(want, "\r\n")
		for i := range w {
			if i >= len(g) || g[i] != w[i] {
				t.Errorf("line %d of %d:\n got %.300s\nwant %.300s", i, len(w), g[min(i, len(g)-1)], w[i])
				break
			}
		}
	}
	c := &s.Cells[1]
	r := metric.RepeatSummary{
		Version: "0.13.0", Confidence: 0.95, Runs: 2, Labels: []string{"run_0001", "run_0002"}, Values: metric.Repeat(c.Runs, 0.95), Cell: c, Mode: "repeated",
	}
	if err := WriteAggregate(dir, &r); err != nil {
		t.Fatal(err)
	}
	sameJSON(t, read("profile_export_aiperf_aggregate.json"), unpacked(t, "aggregate_2.json"))
	sorted := func(text string) []string {
		lines := strings.Split(text, "\r\n")
		slices.Sort(lines)
		return lines
	}
	if got, want := sorted(string(read("profile_export_aiperf_aggregate.csv"))), sorted(string(unpacked(t, "aggregate_2.csv"))); !slices.Equal(got, want) {
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("\n got %s\nwant %s", got[i], want[i])
			}
		}
	}
}

// TestSweepOfSingleRuns: with one run a cell the keys are the plain tags, and the best and the Pareto-optimal cells are there; conditions
// leave out cells that do not keep them.
func TestSweepOfSingleRuns(t *testing.T) {
	s := recordedSweep(t)
	s.Trials, s.Runs = 1, 2
	for i := range s.Cells {
		s.Cells[i].Runs = s.Cells[i].Runs[:1]
	}
	data, err := sweepJSON(s)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Cells []struct{ Metrics map[string]map[string]any }  `json:"per_combination_metrics"`
		Best  map[string]struct{ Parameters map[string]int } `json:"best_configurations"`
		Meta  struct {
			SLA struct {
				Yes int `json:"feasible_count"`
				No  int `json:"infeasible_count"`
			} `json:"sla_constraints"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	one := got.Cells[0].Metrics["request_latency"]
	if one["mean"] != one["avg"] || one["p99"] == nil || one["std"] != 0.0 || got.Cells[0].Metrics["request_latency_avg"] != nil || len(got.Best) != 2 {
		t.Errorf("%v %v", one, got.Best)
	}
	limit := s.Cells[0].Mean("request_throughput", metric.Avg)
	s.Conditions = []metric.Condition{{Tag: "request_throughput", Stat: metric.Avg, Op: "le", Limit: limit}}
	if data, err = sweepJSON(s); err != nil || json.Unmarshal(data, &got) != nil {
		t.Fatal(err)
	}
	if got.Meta.SLA.Yes != 1 || got.Meta.SLA.No != 1 || got.Best["best_throughput"].Parameters["concurrency"] != 1 || len(s.Pareto()) != 1 {
		t.Errorf("%+v %+v, %d Pareto-optimal", got.Meta.SLA, got.Best, len(s.Pareto()))
	}
}
