package runfiles

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const record = `{"metadata":{"request_start_ns":5,"request_end_ns":9,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":4,"unit":"ms"},"inter_chunk_latency":{"value":[1,2,3,6],"unit":"ms"}}}` + "\n"

const failed = `{"metadata":{"request_start_ns":6,"request_end_ns":7,"benchmark_phase":"warmup"},"metrics":{"error_isl":{"value":3,"unit":"tokens"}},"error":{"code":500,"type":"Bad"}}` + "\n"

// TestFind: runs at any depth and through links, each once, by path; a broken link is reported; a place without runs is an error.
func TestFind(t *testing.T) {
	run := map[string]string{"profile_export.jsonl": record, "profile_export_aiperf.json": "{}"}
	dir := t.TempDir()
	for _, at := range []string{"top/b", "top/a/deep", "top/a", "other"} {
		write(t, filepath.Join(dir, at), run)
	}
	write(t, dir, map[string]string{"empty/x": "", "half/profile_export.jsonl": record})
	for from, to := range map[string]string{"top/link": "../other", "top/again": "b", "top/broken": "nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	runs, err := Find([]string{filepath.Join(dir, "top"), filepath.Join(dir, "top/b")}, func(string, ...any) { said = append(said, "warned") })
	var names []string
	for _, r := range runs {
		rel, _ := filepath.Rel(dir, r.Dir)
		names = append(names, rel)
	}
	if got := strings.Join(names, " "); err != nil || got != "top/a top/a/deep top/again top/link" && got != "top/a top/a/deep top/b top/link" || len(said) != 1 {
		t.Errorf("%v %v %v", err, names, said)
	}
	for path, want := range map[string]string{"none": "none does not exist", "empty": "has no run", "half": "has no run", "empty/x": "not a directory"} {
		if _, err := Find([]string{filepath.Join(dir, path)}, func(string, ...any) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestRequests: columns of all records, NaN where one has none; of gaps, statistics; a line that was cut is skipped, a bad one is an error.
func TestRequests(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"profile_export.jsonl": failed + record + record + `{"metadata":{"requ`})
	q, err := Open(dir).Requests()
	if err != nil || q.Len() != 3 {
		t.Fatal(err)
	}
	v, _ := q.Column("request_latency")
	e, _ := q.Column("error_isl")
	if !math.IsNaN(v[0]) || v[1] != 4 || len(v) != 3 || e[0] != 3 || !math.IsNaN(e[2]) || len(e) != 3 {
		t.Error(v, e)
	}
	for name, want := range map[string]float64{"avg": 3, "p50": 2.5, "min": 1, "max": 6, "range": 5, "std": math.Sqrt(3.5)} {
		if c, ok := q.Column("inter_chunk_latency_" + name); !ok || math.Abs(c[1]-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, c, want)
		}
	}
	if !q.Warmup[0] || q.Failure[0] != "Bad" || q.Code[0] != 500 || q.Start[1] != 5 || len(q.Gaps(1)) != 4 {
		t.Errorf("%+v", q)
	}
	bad := write(t, t.TempDir(), map[string]string{"profile_export.jsonl": record + "{\n" + record})
	if _, err := Open(bad).Requests(); err == nil || !strings.Contains(err.Error(), "profile_export.jsonl:2:") {
		t.Error(err)
	}
}

// TestPacked: a compressed file is read as the plain one.
func TestPacked(t *testing.T) {
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "profile_export.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(record)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"profile_export_aiperf.json": "{}"})
	if q, err := Open(dir).Requests(); !IsRun(dir) || err != nil || q.Len() != 1 {
		t.Error(err)
	}
}

// TestSummary: figures in the order of the file, settings by dotted key, what is said of the run.
func TestSummary(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"profile_export_aiperf.json": `{"b":{"unit":"ms","avg":1.5,"p99":3},"a":{"unit":"x","avg":2},"none":{"unit":"y"},
		"input_config":{"models":{"items":[{"name":"m"}]},"phases":[{"kind":"warmup","concurrency":9},{"kind":"profiling","concurrency":4,"rate":2.5}],"endpoint":{"type":"chat"}},
		"was_cancelled":true,"is_complete":false,"telemetry_data":{"endpoints":{"u":{"gpus":{"gpu_0":{},"gpu_1":{}}}}}}`})
	s, err := Open(dir).Summary()
	if err != nil {
		t.Fatal(err)
	}
	p99, _ := s.Stat("b", "p99")
	_, ok := s.Stat("a", "p99")
	if strings.Join(s.Tags, " ") != "b a" || p99 != 3 || ok || s.Model() != "m" || s.Phase("concurrency") != "4" || s.Phase("rate") != "2.5" || s.Flat()["endpoint.type"] != "chat" ||
		!s.Cancelled || s.Complete || s.GPUs != 2 {
		t.Errorf("%+v", s)
	}
}

// TestNone: data that a run lacks are named.
func TestNone(t *testing.T) {
	r := Open(write(t, t.TempDir(), map[string]string{"profile_export.jsonl": ""}))
	_, err1 := r.Slices()
	_, err2 := r.GPUs()
	_, err3 := r.Servers()
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, ErrNone) {
			t.Error(err)
		}
	}
	if _, err := r.Requests(); err == nil || !strings.Contains(err.Error(), "has no records") {
		t.Error(err)
	}
}

// TestScrapes: a counter becomes a rate, a histogram the mean of what came; one that begins anew is passed over; types come from the JSON file.
func TestScrapes(t *testing.T) {
	line := func(at string, n, sum, count string) string {
		return `{"endpoint_url":"u","timestamp_ns":` + at + `,"metrics":{"n":[{"value":` + n + `}],"h":[{"labels":{"l":"v"},"buckets":{"1":0},"sum":` + sum + `,"count":` + count + `}],"g":[{"value":` + n + `}]}}` + "\n"
	}
	dir := write(t, t.TempDir(), map[string]string{
		"server_metrics_export.jsonl": line("1000000000", "10", "1", "1") + line("3000000000", "30", "7", "4") + line("4000000000", "5", "7", "4"),
		"server_metrics_export.json":  `{"metrics":{"n":{"type":"counter","unit":"tokens","series":[{"endpoint_url":"u"}]}}}`,
	})
	list, err := Open(dir).Servers()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Series{}
	for _, s := range list {
		by[s.Metric] = s
	}
	if n, h, g := by["n"], by["h"], by["g"]; len(n.Value) != 1 || n.Value[0] != 10 || n.Unit != "tokens" || len(h.Value) != 1 || h.Value[0] != 2 || h.Key() != "u l=v" || len(g.Value) != 3 {
		t.Errorf("%+v", by)
	}
	if v, ok := quantile(separateBuckets(map[string]float64{"1": 2, "3": 6, "+Inf": 8}), 0.5); !ok || v != 2 {
		t.Error(v)
	}
}

// TestSeconds: a value that a second lacks is NaN, before and after seconds that have it; parts of a figure follow a dot.
func TestSeconds(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"profile_export_timeline.jsonl": `{"timestamp_ns":1000000000,"errors":0}` + "\n" + `{"timestamp_ns":2000000000,"errors":1,"request_latency_ms":{"p50":5,"max":7}}` + "\n" + `{"timestamp_ns":3000000000}` + "\n",
	})
	s, err := Open(dir).Seconds()
	if err != nil || len(s.At) != 3 || s.At[2] != 3e9 {
		t.Fatal(s, err)
	}
	for key, want := range map[string][3]float64{"errors": {0, 1, math.NaN()}, "request_latency_ms.max": {math.NaN(), 7, math.NaN()}} {
		v, ok := s.Figure(key)
		if !ok || len(v) != 3 {
			t.Fatalf("%s: %v", key, v)
		}
		for i := range v {
			if v[i] != want[i] && !(math.IsNaN(v[i]) && math.IsNaN(want[i])) {
				t.Errorf("%s: %v", key, v)
			}
		}
	}
	if _, ok := s.Figure("none"); ok {
		t.Error("a figure that is not there")
	}
	if _, err := Open(t.TempDir()).Seconds(); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}
