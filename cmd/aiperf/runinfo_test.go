//go:build unix

package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// runInfo is what tests read of run_info.
type runInfo struct {
	BenchmarkID    string         `json:"benchmark_id"`
	RandomSeed     *int64         `json:"random_seed"`
	VariationLabel string         `json:"variation_label"`
	VariationIndex *int           `json:"variation_index"`
	Variation      map[string]int `json:"variation_values"`
	Trial          int            `json:"trial"`
}

// TestRunInfo: the summary tells the seed, the variation of a repeat, and the place of the files.
func TestRunInfo(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 1000)
	single := program(t, towards(server.URL, "--request-count", "2", "--random-seed", "7")...)
	single.cmd.Args[3] = "run" // a relative directory
	single.cmd.Dir = filepath.Dir(single.dir)
	if got := single.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, single.stderr.String())
	}
	var info runInfo
	single.summary().read(t, "run_info", &info)
	if info.RandomSeed == nil || *info.RandomSeed != 7 || info.VariationIndex != nil {
		t.Errorf("run_info of a single run: %+v", info)
	}
	var config struct{ Artifacts struct{ Dir string } }
	single.summary().read(t, "input_config", &config)
	if dir, err := filepath.EvalSymlinks(config.Artifacts.Dir); err != nil || !filepath.IsAbs(config.Artifacts.Dir) || dir != resolved(t, single.dir) {
		t.Errorf("artifacts.dir is %s (%v), want %s", config.Artifacts.Dir, err, single.dir)
	}

	repeated := program(t, towards(server.URL, "--request-count", "2", "--num-profile-runs", "2")...)
	if got := repeated.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, repeated.stderr.String())
	}
	info = runInfo{}
	readSummary(t, filepath.Join(repeated.dir, "profile_runs", "run_0002", "profile_export_aiperf.json")).read(t, "run_info", &info)
	if info.VariationLabel != "base" || info.VariationIndex == nil || *info.VariationIndex != 0 || info.Variation == nil || len(info.Variation) != 0 || info.Trial != 1 {
		t.Errorf("run_info of a repeat: %+v", info)
	}
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTracedHeaders: the traced headers are those that the server got, the client's own among them.
func TestTracedHeaders(t *testing.T) {
	t.Parallel()
	server := newScripted(t, 1000)
	p := program(t, towards(server.URL, "--request-count", "1", "--export-level", "raw", "--export-http-trace")...)
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	for _, name := range []string{"profile_export.jsonl", "profile_export_raw.jsonl"} {
		one := readLines[struct {
			Trace struct {
				Request  map[string]string `json:"request_headers"`
				Response map[string]string `json:"response_headers"`
				Sent     int               `json:"request_bytes_total"`
			} `json:"trace_data"`
		}](t, filepath.Join(p.dir, name))[0].Trace
		if h := one.Request; h["Host"] != strings.TrimPrefix(server.URL, "http://") || h["Content-Length"] != strconv.Itoa(one.Sent) || one.Sent == 0 || h["User-Agent"] == "" {
			t.Errorf("%s: %v", name, h)
		}
		if one.Response["Content-Type"] != "application/json" {
			t.Errorf("%s: answered with %v", name, one.Response)
		}
	}
}
