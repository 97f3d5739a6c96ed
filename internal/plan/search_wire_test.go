package plan

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/mockserver"
)

// wireHistory is what a search leaves of its way.
type wireHistory struct {
	Reason     string `json:"convergence_reason"`
	Iterations []struct {
		Values   map[string]float64 `json:"variation_values"`
		Feasible bool               `json:"feasible"`
	} `json:"iterations"`
}

// searchedOver lets a search run against a server over sockets: one condition or objective that a server keeps to the letter, whatever the machine does.
func searchedOver(t *testing.T, url string, set func(r *config.Run)) (h wireHistory, dir string) {
	t.Helper()
	r := asked(t, url)
	r.ServerMetrics.Enabled, r.GPUTelemetry.Enabled = false, false
	users, requests, seed := 2, 2, config.Seed("7")
	r.Phases[0].Concurrency, r.Phases[0].Requests, r.RandomSeed = &users, &requests, &seed
	r.Sweep = config.DefaultSearch()
	set(r)
	if status, out, told := carriedOut(t, r, false); status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out, told)
	}
	text, err := os.ReadFile(filepath.Join(r.Artifacts.Dir, "search_history.json"))
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return h, r.Artifacts.Dir
}

// served counts the answers of so many tokens in a server's own log.
func served(t *testing.T, path string) map[int]int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	count := map[int]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one mockserver.Truth
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		count[one.Tokens]++
	}
	return count
}

// TestReplicatesOverTheWire: the longest answer of at most 20 tokens is found over sockets, every length with a run and its replicates; the server's
// own log has as many answers of each length as they sent.
func TestReplicatesOverTheWire(t *testing.T) {
	log := filepath.Join(t.TempDir(), "truth.jsonl")
	const replicates, requests = 2, 2
	h, dir := searchedOver(t, serving(t, "ttft=1ms itl=0ms truth-log="+log), func(r *config.Run) {
		r.Sweep.Planner, r.Sweep.MaxIterations, r.Sweep.SLAReplicates, r.Sweep.MonotonicStabilityTrials = "monotonic_sla", 30, replicates, 1
		r.Sweep.SearchSpace = []config.SearchDimension{{Path: "datasets.main.prompts.osl", Low: 1, High: 64, Kind: "int"}}
		r.Sweep.Objectives = []config.Objective{{Metric: "output_sequence_length", Stat: "avg", Direction: "maximize"}}
		r.Sweep.SLAFilters = []config.SLAFilter{{MetricTag: "output_sequence_length", Stat: "avg", Op: "le", Threshold: 20}}
	})
	want, longest := map[int]int{}, 0.0
	for i, one := range h.Iterations {
		osl := 0.0
		for _, v := range one.Values {
			osl = v
		}
		if one.Feasible != (osl <= 20) {
			t.Errorf("%g tokens: feasible %v", osl, one.Feasible)
		}
		if one.Feasible {
			longest = max(longest, osl)
		}
		runs, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("search_iter_%04d", i+1), "profile_runs", "*", "profile_export_aiperf.json"))
		if err != nil || len(runs) != 1+replicates {
			t.Errorf("iteration %d has %d runs: %v", i+1, len(runs), err)
		}
		want[int(osl)] += len(runs) * requests
	}
	if longest != 20 || h.Reason != "converged" {
		t.Errorf("found %g tokens, %q", longest, h.Reason)
	}
	if got := served(t, log); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the server answered %v, the search asked for %v", got, want)
	}
}

// TestPatienceAndPlateauOverTheWire: a search whose objective is the same everywhere ends by the rule that is met first, and says which.
func TestPatienceAndPlateauOverTheWire(t *testing.T) {
	url := serving(t, "ttft=1ms itl=0ms tokens=4")
	for _, c := range []struct {
		patience, window, iterations int
		says                         string
	}{
		{3, 50, 4, "no improvement for 3 iterations"}, // after the first one, which is the best
		{50, 4, 4, "plateau"},
		{50, 50, 6, "the iterations are used up"},
	} {
		h, _ := searchedOver(t, url, func(r *config.Run) {
			r.Sweep.Planner, r.Sweep.MaxIterations, r.Sweep.InitialPoints = "bayesian", 6, 3
			r.Sweep.ImprovementPatience, r.Sweep.PlateauWindow, r.Sweep.PlateauThreshold = c.patience, c.window, 0.01
			r.Sweep.SearchSpace = []config.SearchDimension{{Path: "datasets.main.prompts.osl", Low: 1, High: 64, Kind: "int"}}
			r.Sweep.Objectives = []config.Objective{{Metric: "input_sequence_length", Stat: "avg", Direction: "maximize"}}
		})
		if len(h.Iterations) != c.iterations || !strings.Contains(h.Reason, c.says) {
			t.Errorf("patience %d, window %d: %d iterations, %q", c.patience, c.window, len(h.Iterations), h.Reason)
		}
	}
}
