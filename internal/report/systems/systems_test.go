package systems

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// golden are recorded runs of the Python tool: three without GPUs, one with two.
const golden = "../plots/testdata/golden"

// spelled is how the command line spells the options.
var spelled = Spelled{"--label", "--color-by", "--gpus", "--gpu-hour-price"}

func collect(t *testing.T, o Options) *Comparison {
	t.Helper()
	o.Warn, o.Spelled = t.Errorf, spelled
	c, err := Collect(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// document reads a JSON file without the program's help.
func document(t *testing.T, path string) (d map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// edited copies a run and changes its summary.
func edited(t *testing.T, from, to string, edit func(map[string]any)) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to, "profile_export_aiperf.json")
	d := document(t, path)
	edit(d)
	text, err := json.Marshal(d)
	if err == nil {
		err = os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func at(d any, keys ...string) any {
	for _, key := range keys {
		d = d.(map[string]any)[key]
	}
	return d
}

// record is a line of the records.
type record struct {
	Metadata struct {
		Phase string `json:"benchmark_phase"`
		Start int64  `json:"request_start_ns"`
		End   int64  `json:"request_end_ns"`
	} `json:"metadata"`
	Metrics map[string]struct {
		Value any `json:"value"`
	} `json:"metrics"`
	Error any `json:"error"`
}

// records reads the successful requests of the measured phase without the program's help.
func records(t *testing.T, dir string) (list []record) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "profile_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Error == nil && r.Metadata.Phase != "warmup" {
			list = append(list, r)
		}
	}
	return list
}

// percentile computes a percentile of a metric from the records, by linear interpolation between the closest ranks.
func percentile(t *testing.T, dir, tag string, p float64) float64 {
	t.Helper()
	var v []float64
	for _, r := range records(t, dir) {
		if one, ok := r.Metrics[tag].Value.(float64); ok {
			v = append(v, one)
		}
	}
	slices.Sort(v)
	rank := p / 100 * float64(len(v)-1)
	low := int(rank)
	return v[low] + (rank-float64(low))*(v[min(low+1, len(v)-1)]-v[low])
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*math.Abs(want) || want == 0 {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// TestFiguresFromFiles: figures of a point against second formulas: throughput from tokens and duration, percentiles from the records, energy from
// the counters of the GPUs.
func TestFiguresFromFiles(t *testing.T) {
	dir := filepath.Join(golden, "single_gpu_c2", "c2")
	c := collect(t, Options{Paths: []string{filepath.Join(golden, "single_gpu_c2")}})
	if len(c.Points) != 1 || c.Points[0].GPUs != 2 || c.Systems[0].GPUs != "2 (telemetry)" || c.Points[0].Name != "concurrency 2" {
		t.Fatalf("%+v", c)
	}
	p, d := c.Points[0], document(t, filepath.Join(dir, "profile_export_aiperf.json"))
	tokens, from, to := 0.0, int64(math.MaxInt64), int64(0)
	for _, r := range records(t, dir) {
		tokens += r.Metrics["output_sequence_length"].Value.(float64)
		from, to = min(from, r.Metadata.Start), max(to, r.Metadata.End)
	}
	// the Python tool counts from the start of the phase, a few ms before the first request
	if got, want := p.Figures["output_token_throughput:avg"].Value, tokens/(float64(to-from)/1e9); math.Abs(got-want) > 2e-3*want {
		t.Errorf("output throughput: %g, want %g", got, want)
	}
	for _, tag := range latencies {
		near(t, tag+" p50", p.Figures[tag+":p50"].Value, percentile(t, dir, tag, 50))
		near(t, tag+" p90", p.Figures[tag+":p90"].Value, percentile(t, dir, tag, 90))
		if got := p.Missing[tag+":p99"]; got != "needs 100 requests" {
			t.Errorf("%s p99 of 20 requests: %q", tag, got)
		}
	}
	joules := 0.0
	for _, e := range at(d, "telemetry_data", "endpoints").(map[string]any) {
		for _, g := range at(e, "gpus").(map[string]any) {
			joules += 1e6 * at(g, "metrics", "nvidia_energy_consumption", "avg").(float64)
		}
	}
	near(t, "energy", p.Figures[Energy].Value, 1e3*joules/tokens)
}

// TestGPUCounts: without telemetry there is no count until a flag gives it; a flag that contradicts telemetry counts, and takes the energy away.
func TestGPUCounts(t *testing.T) {
	paths := []string{filepath.Join(golden, "multi_c1_c4_c8"), filepath.Join(golden, "single_gpu_c2")}
	c := collect(t, Options{Paths: paths})
	if len(c.Systems) != 2 || len(c.Points) != 4 || c.Points[0].GPUs != 0 || c.Systems[0].GPUs != "unknown" || c.Points[3].GPUs != 2 {
		t.Fatalf("%+v", c)
	}
	if text := strings.Join(c.Notes, "\n"); !strings.Contains(text, "multi_c1_c4_c8: the number of GPUs is unknown") || !strings.Contains(text, "Give it with --gpus.") {
		t.Error(text)
	}
	c = collect(t, Options{Paths: paths, GPUs: []int{8, 4}, Prices: []float64{2.5}, Labels: []string{"old", "new"}})
	if c.Points[0].GPUs != 8 || c.Points[3].GPUs != 4 || c.Systems[1].Name != "new" || c.Systems[1].Price != 2.5 {
		t.Fatalf("%+v", c.Systems)
	}
	if _, ok := c.Points[3].Figures[Energy]; ok || c.Points[3].Missing[Energy] != "telemetry covers 2 GPUs, --gpus says 4" {
		t.Error(c.Points[3].Missing)
	}
	if text := strings.Join(c.Notes, "\n"); !strings.Contains(text, "new: telemetry saw 2 GPUs, --gpus says 4; 4 is used") || strings.Contains(text, "unknown (no GPU") {
		t.Error(text)
	}
}

// TestIdleGPUs: GPUs that did nothing are pointed out, because they count.
func TestIdleGPUs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "one")
	edited(t, filepath.Join(golden, "single_gpu_c2", "c2"), dir, func(d map[string]any) {
		for _, e := range at(d, "telemetry_data", "endpoints").(map[string]any) {
			at(e, "gpus", "gpu_1", "metrics", "nvidia_gpu_utilization").(map[string]any)["max"] = 0.0
		}
	})
	c := collect(t, Options{Paths: []string{dir}})
	if text := strings.Join(c.Notes, "\n"); !strings.Contains(text, "1 of the 2 GPUs that telemetry saw were idle") {
		t.Error(text)
	}
}

// TestBadDirectories: a directory without a run, one twice, a broken summary, other versions, other work and stopped runs are notes; values of
// flags stay with their directories.
func TestBadDirectories(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(golden, "multi_c1_c4_c8", "c4")
	edited(t, run, filepath.Join(dir, "a", "c4"), func(d map[string]any) { d["aiperf_version"] = "9.9" })
	edited(t, run, filepath.Join(dir, "b", "stopped"), func(d map[string]any) {
		d["was_cancelled"] = true
		d["input_sequence_length"].(map[string]any)["avg"] = 9999.0
	})
	edited(t, run, filepath.Join(dir, "b", "broken"), func(d map[string]any) {})
	if err := os.WriteFile(filepath.Join(dir, "b", "broken", "profile_export_aiperf.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	c := collect(t, Options{Paths: []string{path("a"), path("empty"), path("absent"), path("a"), path("b")}, GPUs: []int{1, 2, 3, 4, 5}})
	if len(c.Systems) != 2 || len(c.Points) != 2 || c.Points[0].GPUs != 1 || c.Points[1].GPUs != 5 || c.Points[1].Doubt != "stopped early" {
		t.Fatalf("%+v", c)
	}
	text := strings.Join(c.Notes, "\n")
	for _, want := range []string{"empty has no run: a run has the files", "absent does not exist; it is skipped.", "a: all its runs belong to a system before it.",
		"b: the summary of run broken cannot be read", "Different versions of aiperf measured: 0.13.0 (1 point), 9.9 (1 point)", "Prompts differ: on average ", "1 of 2 points do not count"} {
		if !strings.Contains(text, want) {
			t.Errorf("no note says %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, dir) {
		t.Errorf("directories are published: %s", text)
	}
	for _, o := range []struct {
		Options
		want string
	}{
		{Options{Paths: []string{path("empty"), path("absent")}}, "absent does not exist"},
		{Options{Paths: []string{path("a"), path("b")}, Labels: []string{"x"}}, "--label: 1 name for 2 systems (a, b): give one for each"},
		{Options{Paths: []string{path("a"), path("b")}, Labels: []string{"x", "x"}}, `--label "x": each system needs its own name`},
		{Options{Paths: []string{path("a"), path("b")}, GPUs: []int{1, 2, 3}}, "--gpus: 3 values for 2 systems"},
		{Options{Paths: []string{golden + "/multi_c1_c4_c8"}, ColorBy: "x"}, "--color-by x: the runs do not differ in this key; they differ in "},
	} {
		o.Warn, o.Spelled = t.Errorf, spelled
		if _, err := Collect(o.Options); err == nil || !strings.Contains(err.Error(), o.want) {
			t.Errorf("%v, want %s", err, o.want)
		}
	}
}

// TestGrouping: repetitions are one point with an interval; other settings are separate points with different names; one directory is split into
// its subdirectories if they have several runs.
func TestGrouping(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(golden, "multi_c1_c4_c8", "c4")
	slower := func(d map[string]any) {
		one := d["output_token_throughput"].(map[string]any)
		one["avg"] = one["avg"].(float64) / 2
	}
	edited(t, run, filepath.Join(dir, "a", "first"), func(map[string]any) {})
	edited(t, run, filepath.Join(dir, "a", "again"), slower)
	edited(t, run, filepath.Join(dir, "b", "one"), func(map[string]any) {})
	edited(t, run, filepath.Join(dir, "b", "two"), func(d map[string]any) {
		d["input_config"].(map[string]any)["endpoint"].(map[string]any)["timeout"] = 7.0
	})
	c := collect(t, Options{Paths: []string{dir}})
	if len(c.Systems) != 2 || len(c.Points) != 3 || c.Points[0].Runs != 2 || c.Points[1].Name == c.Points[2].Name || !strings.Contains(c.Points[1].Name+c.Points[2].Name, "timeout 7") {
		t.Fatalf("%+v", c)
	}
	whole := at(document(t, filepath.Join(run, "profile_export_aiperf.json")), "output_token_throughput", "avg").(float64)
	f := c.Points[0].Figures["output_token_throughput:avg"]
	near(t, "mean", f.Value, 0.75*whole)
	near(t, "half width", f.Half, 12.706204736*0.25*whole) // t(0.975, 1) times the standard error of two values that differ by whole/2
	if !slices.Equal(c.Keys, []string{"endpoint.timeout"}) {
		t.Error(c.Keys)
	}
}

// TestWarmupOfTheFirst: repetitions of which only the first has a warm-up are one point; a run of another series without one is another.
func TestWarmupOfTheFirst(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(golden, "multi_c1_c4_c8", "c4")
	for _, c := range []struct {
		name, series string
		warm         bool
	}{{"one", "s", true}, {"two", "s", false}, {"three", "s", false}, {"other", "x", false}} {
		edited(t, run, filepath.Join(dir, c.name), func(d map[string]any) {
			d["run_info"] = map[string]any{"sweep_id": c.series, "variation_label": "base"}
			if config := d["input_config"].(map[string]any); c.warm {
				config["phases"] = append([]any{map[string]any{"name": "warmup", "kind": "warmup", "type": "concurrency", "requests": 5}}, config["phases"].([]any)...)
			}
		})
	}
	var runs []int
	for _, p := range collect(t, Options{Paths: []string{dir}}).Points {
		runs = append(runs, p.Runs)
	}
	if slices.Sort(runs); !slices.Equal(runs, []int{1, 3}) {
		t.Errorf("points of %v runs, want 1 and 3", runs)
	}
}

// TestUnknownLimits: figures whose limits are partly unknown stay numbers that JSON can hold, over one run and over several.
func TestUnknownLimits(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1", "2"} {
		edited(t, filepath.Join(golden, "multi_c1_c4_c8", "c4"), filepath.Join(dir, name), func(d map[string]any) {
			d["validity"] = map[string]any{"verdict": "uncertain", "bounds": map[string]any{
				"time_to_first_token": map[string]any{"p50": map[string]any{"low": 3.0}}, "request_latency": map[string]any{"p50": map[string]any{"high": 9000.0}}}}
		})
	}
	c := collect(t, Options{Paths: []string{dir}})
	first, whole := c.Points[0].Figures["time_to_first_token:p50"], c.Points[0].Figures["request_latency:p50"]
	if c.Points[0].Runs != 2 || first.Low != 3 || first.High != Unbounded || whole.Low != 0 || whole.High != 9000 {
		t.Errorf("%+v, %+v", first, whole)
	}
	if _, err := json.Marshal(c.Points); err != nil {
		t.Error(err)
	}
}
