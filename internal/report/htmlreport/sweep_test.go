package htmlreport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/report/runfiles"
)

// sweepPage returns the page of the runs below a directory.
func sweepPage(t *testing.T, dir string) []byte {
	t.Helper()
	runs, err := runfiles.Find([]string{dir}, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	page, err := Sweep(dir, runs, "report.html", "test")
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestSweepPage: cells in order, the best marked, differences, links to the pages of the runs.
func TestSweepPage(t *testing.T) {
	dir := filepath.Join(recorded, "multi_c1_c4_c8")
	page := sweepPage(t, dir)
	alone(t, page)
	text := string(page)
	for _, want := range []string{`<a href="c8/report.html">concurrency 8</a>`, `<strong>20.1</strong><small>best</small>`, `10.1<small>-50 %</small>`, "Requests, requests/sec", "on the frontier", "Runs of a cell have 24 requests"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Index(text, "concurrency 4</a>") > strings.Index(text, "concurrency 8</a>") {
		t.Error("settings are not in order")
	}
	if d := dataOf(t, page); len(d.Charts) != 5 || len(d.Charts[0].Traces) != 2 {
		t.Errorf("%+v", d.Charts)
	}
	g := &grid{v: [][]estimate{{{10, 1, true}}, {{12, 1.5, true}}, {{9, 1, true}}}, best: []int{1}}
	for i, want := range []string{"10.0 ± 1.00 intervals overlap", "12.0 ± 1.50 best", "9.00 ± 1.00 -25 %"} {
		if value, below := g.estimateText(i, 0); value+" "+below != want {
			t.Errorf("%s %s, want %s", value, below, want)
		}
	}
}

// TestCapacityPage: the page of a search for the capacity begins with its answer. A damaged file adds nothing.
func TestCapacityPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(recorded, "multi_c1_c4_c8"))); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{`{"kind":"capacity","answer":"48.6 requests/s meet <p99>"}`: true, `{"answer":"48.6 requests/s meet`: false} {
		if err := os.WriteFile(filepath.Join(dir, "capacity.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		page := sweepPage(t, dir)
		at := strings.Index(string(page), "48.6 requests/s meet &lt;p99&gt;")
		if (at >= 0) != want || want && at > strings.Index(string(page), "Runs of a cell have 24 requests") {
			t.Errorf("%s: the answer is at %d of the page", text, at)
		}
	}
}

// TestSeveralTargets: runs of two servers at one load are two cells, not repetitions with a mean, and so are runs with other fields in their requests or
// another tokenizer. Runs that wait for a server are excluded.
func TestSeveralTargets(t *testing.T) {
	for name, c := range map[string]struct {
		group, key string
		value      any
		want       []string
	}{
		"server":    {"endpoint", "urls", []string{"http://other:8000"}, []string{"Comparison of 2 runs", "concurrency 4, urls http://other:8000"}},
		"fields":    {"endpoint", "extra", map[string]any{"ignore_eos": true, "top_k": 7}, []string{"concurrency 4, top_k 7"}},
		"tokenizer": {"tokenizer", "name", "other", []string{"concurrency 4, name other"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"one", "two", "cell_03_settling"} {
				if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(recorded, "multi_c1_c4_c8", "c4"))); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, "two", "profile_export_aiperf.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var summary map[string]any
			if err := json.Unmarshal(text, &summary); err != nil {
				t.Fatal(err)
			}
			config := summary["input_config"].(map[string]any)
			group, ok := config[c.group].(map[string]any)
			if !ok {
				group = map[string]any{}
			}
			group[c.key] = c.value
			config[c.group] = group
			if text, err = json.Marshal(summary); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			page := string(sweepPage(t, dir))
			for _, want := range append(c.want, "2 runs, 2 cells") {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %s", want)
				}
			}
		})
	}
}

// TestUnfinishedSweepPage: a sweep of five cells of which three have runs is not complete, whatever the verdicts of the three.
func TestUnfinishedSweepPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(recorded, "multi_c1_c4_c8"))); err != nil {
		t.Fatal(err)
	}
	for planned, want := range map[int]bool{5: true, 3: false} {
		if err := os.MkdirAll(filepath.Join(dir, "sweep_aggregate"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "sweep_aggregate", "profile_export_aiperf_sweep.json"), fmt.Appendf(nil, `{"metadata":{"num_combinations":%d}}`, planned), 0o600); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(sweepPage(t, dir), []byte("The sweep is not complete: 3 of 5 cells ran to the end")) != want {
			t.Errorf("%d cells planned: not complete should be %v", planned, want)
		}
	}
}
