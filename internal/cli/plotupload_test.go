package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestPlotUpload: the images go below plots/ of the run that is named, or of the one that the upload of the run made; an impossible upload is refused.
func TestPlotUpload(t *testing.T) {
	testhome.Slow(t)
	var mu sync.Mutex
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // one part of it is not an image
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodGet {
			calls = append(calls, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
			_, _ = io.WriteString(w, `{"run":{"info":{"artifact_uri":"mlflow-artifacts:/7/r1/artifacts"}}}`)
			return
		}
		image := ""
		if strings.HasPrefix(string(body), "\x89PNG") {
			image = " PNG"
		}
		calls = append(calls, r.Method+" "+r.URL.Path+image)
	}))
	defer server.Close()
	golden := filepath.Join("..", "report", "plots", "testdata", "golden", "multi_c1_c4_c8")
	plot := func(dir string, words ...string) (int, string) {
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs, Environ: []string{"MLFLOW_TRACKING_TOKEN=tok"}}}
		status := Main(context.Background(), p, append([]string{"plot", dir, "--output", t.TempDir(), "--size", "small"}, words...))
		return status, out.String() + errs.String()
	}
	status, said := plot(golden, "--mlflow-upload", "--mlflow-tracking-uri", server.URL, "--mlflow-run-id", "r1")
	want := []string{"/api/2.0/mlflow/runs/get?run_id=r1 Bearer tok"}
	for _, name := range []string{"latency_throughput_uncertainty", "pareto_curve_throughput_per_gpu_vs_interactivity", "pareto_curve_throughput_per_gpu_vs_latency", "ttft_vs_throughput"} {
		want = append(want, "PUT /api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/plots/"+name+".png PNG")
	}
	slices.Sort(calls)
	slices.Sort(want)
	if status != 0 || !slices.Equal(calls, want) || !strings.Contains(said, "Uploaded 4 plots to MLflow run r1") {
		t.Errorf("status %d\n%s\n%s", status, said, strings.Join(calls, "\n"))
	}

	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(golden)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mlflow_export.json"), []byte(`{"tracking_uri":"`+server.URL+`","run_id":"r2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	calls = nil
	if status, said := plot(dir, "--mlflow-upload"); status != 0 || !slices.Contains(calls, "/api/2.0/mlflow/runs/get?run_id=r2 Bearer tok") {
		t.Errorf("status %d\n%s\n%v", status, said, calls)
	}
	for _, c := range [][2]string{
		{"--mlflow-upload", "give one with --mlflow-tracking-uri"}, {"--mlflow-upload --mlflow-tracking-uri " + server.URL, "give one with --mlflow-run-id"}, {"--mlflow-run-id x", "needs --mlflow-upload"},
		{"--mlflow-upload --mlflow-run-id x --mlflow-tracking-uri file:///x", "must be http://HOST:PORT"}, {"--mlflow-upload --dashboard", "--dashboard makes none"},
		{"--mlflow-upload --mlflow-run-id x --mlflow-tracking-uri http://127.0.0.1:1", "refused"},
	} {
		if status, said := plot(golden, strings.Fields(c[0])...); status != 1 || !strings.Contains(said, c[1]) {
			t.Errorf("%s: status %d\n%s", c[0], status, said)
		}
	}
}
