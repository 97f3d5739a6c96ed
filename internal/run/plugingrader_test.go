package run

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/rereport"
)

// installPlugins makes the plug-ins of testdata known.
func installPlugins(t *testing.T) {
	t.Helper()
	dir, err := filepath.Abs("testdata/plugins")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(plugin.PathVariable, dir)
}

// answersB is a server that answers B to everything, and nothing to the fourth question of virology.
func answersB(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(body), "virology3") {
			http.Error(w, `{"error":"no"}`, http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" B\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// quizRun runs the quiz with a grader.
func quizRun(t *testing.T, url, grader string) (run *metric.Run, dir, said string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a")
	b := whole(dir, url, 1)
	b.Artifacts.Raw = true
	none := 0
	b.Accuracy = &config.Accuracy{Benchmark: "mmlu", Tasks: []string{"anatomy", "virology"}, NShots: &none, DatasetPath: quiz(t), Grader: grader}
	b.Phases[0].Requests = nil
	all := config.Default()
	all.Benchmark = *b
	input, err := all.InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run, err = Run(t.Context(), b, nil, Options{Err: &out, InputConfig: input})
	return run, dir, out.String(), err
}

// TestGraderPlugin: a grader in Python that does what the built-in one does gives the same files, in a run and in the report of a run.
func TestGraderPlugin(t *testing.T) {
	testhome.Slow(t)
	scores := [][]string{{"OVERALL", "5", "8", "1", "0.6250"}, {"anatomy", "2", "4", "0", "0.5000"}, {"virology", "3", "4", "1", "0.7500"}}
	url := answersB(t)
	_, dir, _, err := quizRun(t, url, "exact_match")
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, dir, scores)
	found, err := rereport.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files [2]map[string]string
	for i := range files {
		if i == 1 {
			installPlugins(t)
		}
		out := filepath.Join(t.TempDir(), "report")
		var info []string
		if _, err := rereport.Report(t.Context(), rereport.Options{Input: found[0], Dir: out, Info: func(f string, args ...any) { info = append(info, f) }}); err != nil {
			t.Fatal(err)
		}
		if len(info) > 0 {
			t.Errorf("said %q", info)
		}
		files[i] = textsOf(t, out, "accuracy_export.jsonl", "accuracy_results.csv", "profile_export_aiperf.csv")
	}
	for name, text := range files[0] {
		if files[1][name] != text {
			t.Errorf("%s differs:\n%s\n%s", name, text, files[1][name])
		}
	}
	if _, dir, _, err = quizRun(t, url, "exact_match"); err != nil {
		t.Fatal(err)
	}
	checkScores(t, dir, scores)
}

func textsOf(t *testing.T, dir string, names ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	return texts
}

// TestGraderFaults: answers that a grader cannot grade have no grade. The run continues, reports the reason once, and no score counts them.
func TestGraderFaults(t *testing.T) {
	testhome.Slow(t)
	installPlugins(t)
	url := answersB(t)
	for grader, want := range map[string]struct {
		graded, ungraded int64
		reason           string
	}{
		"dies": {3, 5, `plug-in accuracy_grader:dies: grade: the program ended unexpectedly (exit status 1); its last line on standard error: "out of memory"`},
		"lies": {0, 8, `plug-in accuracy_grader:lies: grade: the result has 7 for "confidence", but it must be between 0 and 1`},
	} {
		run, dir, said, err := quizRun(t, url, grader)
		if err != nil {
			t.Fatal(err)
		}
		if run.Profiling.Valid != 7 || run.Accuracy.Overall().Total != want.graded || run.Accuracy.Ungraded != want.ungraded {
			t.Errorf("%s: %d valid, %+v", grader, run.Profiling.Valid, run.Accuracy)
		}
		if strings.Count(said, want.reason) != 1 {
			t.Errorf("%s: said %s", grader, said)
		}
		summary := textsOf(t, dir, "profile_export_aiperf.json")["profile_export_aiperf.json"]
		if strings.Contains(summary, `"accuracy.overall"`) != (want.graded > 0) || !strings.Contains(summary, `"accuracy.ungraded"`) {
			t.Errorf("%s: scores in the summary:\n%s", grader, summary)
		}
	}
	for grader, want := range map[string]string{
		"refuses": `plug-in accuracy_grader:refuses: hello: the program says: "no model file"`, "absent": "nothing: no such file or directory (",
		"strange": `unknown grader "strange"; graders: exact_match, math, `,
	} {
		if _, _, _, err := quizRun(t, url, grader); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--accuracy-grader") {
			t.Errorf("%s: %v", grader, err)
		}
	}
}
