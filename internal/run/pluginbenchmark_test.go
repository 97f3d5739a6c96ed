package run

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// TestBenchmarkPlugin: a benchmark in Python asks its problems with its worked examples, system prompt and limit, and its default grader judges.
func TestBenchmarkPlugin(t *testing.T) {
	testhome.Slow(t)
	installPlugins(t)
	url := answersB(t)
	ask := func(name string) (*metric.Run, string, error) {
		dir := filepath.Join(t.TempDir(), "a")
		b := whole(dir, url, 1)
		b.Accuracy = &config.Accuracy{Benchmark: name}
		b.Phases[0].Requests = nil
		run, err := Run(t.Context(), b, nil, Options{Err: io.Discard})
		return run, dir, err
	}
	run, dir, err := ask("sums")
	if err != nil {
		t.Fatal(err)
	}
	if a := run.Accuracy; a.Overall() != (metric.Score{Total: 3}) || len(a.Tasks) != 2 || a.Grader != "exact_match" || a.Benchmark != "sums" {
		t.Errorf("%+v", run.Accuracy)
	}
	inputs := strings.Join(strings.Fields(textsOf(t, dir, "inputs.json")["inputs.json"]), "")
	for _, want := range []string{`"content":"Answerwiththenumberonly."`, `"content":"1+0?"`, `{"role":"assistant","content":"1"}`, `"content":"5+6?"`, `:7`} {
		if !strings.Contains(inputs, want) {
			t.Errorf("inputs.json lacks %s:\n%s", want, inputs)
		}
	}
	for name, want := range map[string]string{
		"goldless": `plug-in accuracy_benchmark:goldless: load: problems[0]: "ground_truth" is missing`, "graderless": "metadata: default_grader is missing",
	} {
		if _, _, err := ask(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--accuracy-benchmark") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
