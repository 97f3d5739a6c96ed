package plan

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/plugin"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// searchWith searches with a planner of testdata; the throughput of a cell is 16, but falls from a concurrency of 8 on.
func searchWith(t *testing.T, planner string) (tried []int, out string, status int, err error) {
	t.Helper()
	r := searchOf(planner, "int", 1, 1000)
	r.Sweep.MaxIterations = 6
	r.Artifacts.Dir = t.TempDir()
	requests := 3
	r.Models.Items, r.Profiling().Requests = []config.Model{{Name: "m"}}, &requests
	r.Endpoint.URLs = []string{"mock://"}
	var text bytes.Buffer
	i := &invocation{Streams: Streams{Out: &text, Err: io.Discard}, ctx: t.Context(), run: r}
	i.runner = func(_ context.Context, b *config.Benchmark, _ *config.Seed, _ metric.RunInfo, _ string) (*metric.Run, error) {
		n := *b.Profiling().Concurrency
		tried = append(tried, n)
		if n >= 8 {
			return measured(t, 1, 0), nil
		}
		return measured(t, 3, 0), nil
	}
	status, err = i.searching()
	return tried, text.String(), status, err
}

// TestExternalPlanner: a plug-in chooses the cells and says why the search ends. After values outside the space the search reports what it has, and why
// it ended.
func TestExternalPlanner(t *testing.T) {
	places, err := filepath.Abs("testdata/planners")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(plugin.PathVariable, places)
	tried, out, status, err := searchWith(t, "steps")
	if err != nil || status != 0 || len(tried) != 4 || tried[3] != 8 || !strings.Contains(out, "(4 tried; the objective fell at 8 (seed 42))") {
		t.Errorf("%v %d %v\n%s", tried, status, err, out)
	}
	tried, out, _, err = searchWith(t, "wild")
	want := "plug-in search_planner:wild: next: the value of phases.profiling.concurrency is 1e+06, but must be between 1 and 1000"
	if err == nil || !strings.Contains(err.Error(), want) || len(tried) != 1 || !strings.Contains(out, "best is") {
		t.Errorf("%v %v\n%s", tried, err, out)
	}
	if err := searchOf("steps", "int", 1, 10).Validate(); err != nil && strings.Contains(err.Error(), "planner") {
		t.Error(err)
	}
	if err := searchOf("stepz", "int", 1, 10).Validate(); err == nil || !strings.Contains(err.Error(), "planner") {
		t.Error(err)
	}
}
