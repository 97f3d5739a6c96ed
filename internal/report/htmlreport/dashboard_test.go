package htmlreport

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/plots"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/systems"
)

func dashboard(t *testing.T) *Dashboard {
	t.Helper()
	runs, err := runfiles.Find([]string{filepath.Join(recorded, "multi_c1_c4_c8")}, t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	config, err := plots.ParseConfig(plots.Default, "shipped")
	if err != nil {
		t.Fatal(err)
	}
	return &Dashboard{Runs: runs, Config: config, Theme: "light", Version: "test"}
}

// asked is the answer to a question over HTTP.
func answered(d *Dashboard, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, r)
	return w
}

// TestProtection: the page may run its own script alone, and there are no other files.
func TestProtection(t *testing.T) {
	d := dashboard(t)
	for path, want := range map[string]int{"/": 200, "/etc/passwd": 404} {
		w := answered(d, http.MethodGet, path, "")
		if w.Code != want || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
	}
}

// TestPlotsOfADashboard: the defaults of a mode, custom plots, what a plot lacks; only runs of the dashboard.
func TestPlotsOfADashboard(t *testing.T) {
	d := dashboard(t)
	read := func(body string) (s state) {
		w := answered(d, http.MethodPost, "/api/plots", body)
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := read(`{}`); !s.Multi || len(s.Runs) != 3 || len(s.Plots) != 4 || s.Plots[2].Name != "ttft_vs_throughput" || s.Plots[2].Chart == nil || len(s.Metrics) < 4 {
		t.Errorf("%+v", s)
	}
	dir, err := json.Marshal([]string{d.Runs[0].Dir})
	if err != nil {
		t.Fatal(err)
	}
	if s := read(`{"Runs":` + string(dir) + `}`); s.Multi || len(s.Plots) != 10 || !strings.Contains(s.Plots[5].Missing, "time slices") {
		t.Errorf("%+v", s)
	}
	s := read(`{"Plots":[{"Name":"mine","Settings":{"type":"bar","x":{"metric":"concurrency"},"y":{"metric":"request_latency","stat":"p99"}}},{"Name":"bad","Settings":{"type":"pie"}}]}`)
	if !strings.Contains(string(s.Plots[0].Chart), "Request Latency (p99) (ms)") || !strings.Contains(s.Plots[1].Missing, `type "pie"`) {
		t.Errorf("%+v", s.Plots)
	}
	for body, want := range map[string]int{`{"Runs":["/etc"]}`: 422, `{`: 400} {
		if w := answered(d, http.MethodPost, "/api/plots", body); w.Code != want {
			t.Errorf("%s: %d", body, w.Code)
		}
	}
	w := answered(d, http.MethodPost, "/api/run", `{"Runs":`+string(dir)+`}`)
	if strings.Contains(w.Body.String(), "artifacts.dir") {
		t.Errorf("%s", w.Body)
	}
	var window runDetail
	if err := json.Unmarshal(w.Body.Bytes(), &window); err != nil {
		t.Fatal(err)
	}
	sameFigures(t, d.Runs[0].Dir, window.Figures)
}

// sameFigures: names, units and numbers of a run's window are those of its summary, which is read here without this program's help.
func sameFigures(t *testing.T, dir string, rows []metricRow) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var summary map[string]json.RawMessage
	if err := json.Unmarshal(text, &summary); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for tag, raw := range summary {
		var one map[string]any
		m, known := metric.Lookup(tag)
		if json.Unmarshal(raw, &one) != nil || !known {
			continue
		}
		var cells []string
		for _, stat := range tableStats {
			text := ""
			if v, ok := one[stat].(float64); ok {
				text = terminal.Exact(v)
			}
			cells = append(cells, text)
		}
		want[m.Header+" ("+m.Display+")"] = cells
	}
	for _, row := range rows {
		if !slices.Equal(row.Cell, want[row.Name]) {
			t.Errorf("%s: %q, want %q", row.Name, row.Cell, want[row.Name])
		}
	}
	if len(rows) < 10 {
		t.Errorf("%d rows", len(rows))
	}
}

// TestExport: an archive of images, or of a page that needs nothing, with a list.
func TestExport(t *testing.T) {
	d := dashboard(t)
	for format, files := range map[string]string{"svg": "a_b.svg README.txt", "html": "plots.html README.txt"} {
		w := answered(d, http.MethodPost, "/api/export", `{"Format":"`+format+`","Size":"small","Plots":[{"Name":"a/b","Settings":{"type":"scatter","x":"request_latency","y":"concurrency"}}]}`)
		z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
		if err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		var names []string
		for _, f := range z.File {
			names = append(names, f.Name)
		}
		if strings.Join(names, " ") != files {
			t.Errorf("%v, want %s", names, files)
		}
	}
	if w := answered(d, http.MethodPost, "/api/export", `{"Format":"exe","Size":"small"}`); w.Code != 422 {
		t.Error(w.Code)
	}
}

// TestPagesOfADashboard: it serves the list of its runs, the report of each with its plots, comparisons of two and of more runs, and the page of systems
// if there is one; all but the list lead back to it.
func TestPagesOfADashboard(t *testing.T) {
	d := dashboard(t)
	d.Systems = func() (*systems.Comparison, error) {
		return systems.Collect(systems.Options{Paths: []string{filepath.Join(recorded, "multi_c1_c4_c8")}, Warn: t.Errorf})
	}
	for path, want := range map[string][]string{
		"/":                          {"3 runs", `href="report?run=2"`, `id="plot-editor" data-run=""`, `href="systems"`, "c8", "concurrency 8"},
		"/report?run=2":              {"Benchmark run c8", `id="plot-editor" data-run="` + d.Runs[2].Dir, "All runs"},
		"/compare?run=0&run=1":       {"c1 against c4", `href="compare?run=1&amp;run=0"`, "All runs", "Every statistic that is compared"},
		"/compare?run=0&run=1&run=2": {"3 runs, 3 cells", `href="report?run=1"`, "All runs", "Figures of each cell"},
		"/systems":                   {"measured point", "All runs"},
	} {
		w := answered(d, http.MethodGet, path, "")
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
		for _, text := range want {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
	d.Systems = nil
	for path, want := range map[string]int{
		"/systems": 404, "/report": 404, "/report?run=3": 404, "/report?run=-1": 404, "/report?run=x": 404, "/compare?run=0&run=9": 404, "/compare?run=0": 422, "/compare?run=0&run=0": 200,
	} {
		if w := answered(d, http.MethodGet, path, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	if w := answered(d, http.MethodGet, "/", ""); strings.Contains(w.Body.String(), `href="systems"`) {
		t.Error("the list leads to a page of systems, and there is none")
	}
}

// TestDashboardOfOneRun: the only run needs no list.
func TestDashboardOfOneRun(t *testing.T) {
	d := dashboard(t)
	d.Runs = d.Runs[:1]
	sum, err := d.Runs[0].Summary()
	if err != nil {
		t.Fatal(err)
	}
	page := answered(d, http.MethodGet, "/", "").Body.String()
	if !strings.Contains(page, "<h1>"+sum.Model()) || !strings.Contains(page, `id="plot-editor"`) || strings.Contains(page, "All runs") {
		t.Error("the page of a single run is not its report with plots")
	}
}

// TestNamesOfADashboard: runs whose directories have the same name also show those above.
func TestNamesOfADashboard(t *testing.T) {
	d := &Dashboard{Runs: []*runfiles.Run{runfiles.Open("/a/x/run_1"), runfiles.Open("/a/y/run_1"), runfiles.Open("/a/y/run_2")}}
	for i, want := range []string{"x/run_1", "y/run_1", "run_2"} {
		if got := d.name(d.Runs[i]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestDifferentTargets: equal loads of different models are not repetitions of one cell, and nothing is said of the growth from one to the other.
func TestDifferentTargets(t *testing.T) {
	summary := func(model string) string {
		return `{"input_config":{"models":{"items":[{"name":"` + model + `"}]},"phases":[{"kind":"profiling","type":"concurrency","concurrency":4}]},"validity":{"verdict":"valid"},
			"request_count":{"unit":"requests","avg":1},"output_token_throughput":{"unit":"tokens/sec","avg":9},"output_token_throughput_per_user":{"unit":"tokens/sec/user","p50":3,"count":1}}`
	}
	d := dashboard(t)
	for models, want := range map[[3]string]string{{"a", "a", "a"}: "3 runs, 1 cell", {"a", "a", "b"}: "Comparison of 3 runs"} {
		d.Runs = nil
		for _, model := range models {
			d.Runs = append(d.Runs, made(t, summary(model), request(1, 6, "")))
		}
		page := answered(d, http.MethodGet, "/compare?run=0&run=1&run=2", "").Body.String()
		if !strings.Contains(page, want) || strings.Contains(page, "the output changes") {
			t.Errorf("%v: without %q, or with a sentence on growth", models, want)
		}
	}
}
