package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"aiperf/internal/cli/exampleconfigs"
	"aiperf/internal/config"
)

// commanded runs a command line in this directory.
func commanded(t *testing.T, environ []string, argv ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &Program{
		Streams:       Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Width: 100, Environ: environ},
		Profile:       func(context.Context, *config.Run, Streams) int { return 0 },
		FindTokenizer: offline,
	}
	status = Main(t.Context(), p, argv)
	return status, out.String(), errs.String()
}

// TestTemplates: every template says what it is and is valid.
func TestTemplates(t *testing.T) {
	t.Chdir(t.TempDir())
	all := exampleconfigs.All()
	if len(all) != 27 || all[0].Name != "minimal" {
		t.Fatalf("%d templates, the first is %s", len(all), all[0].Name)
	}
	for _, one := range all {
		if one.Title == "" || one.Description == "" || one.Category == "" || one.Tags == "" || one.Difficulty == "" || one.Features == "" {
			t.Errorf("%+v: something is not said", one)
		}
		name := one.Name + ".yaml"
		if status, _, errs := commanded(t, nil, "config", "init", "--template", one.Name, "--output", name); status != 0 {
			t.Fatal(errs)
		}
		status, out, errs := commanded(t, nil, "config", "validate", name)
		if status != 0 || out != "Configuration valid: "+name+"\n" {
			t.Errorf("%s: status %d, %s%s", name, status, out, errs)
		}
	}
}

func TestConfigInit(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, out, errs := commanded(t, nil, "config", "init", "-t", "minimal", "-m", `my "own" $1`, "-u", "http://h:1"); status != 0 ||
		!strings.Contains(out, `model: "my \"own\" $1"`) || !strings.Contains(out, `    url: "http://h:1"`) {
		t.Errorf("status %d: %s\n%s", status, errs, out)
	}
	if status, _, _ := commanded(t, nil, "config", "init"); status != 2 {
		t.Errorf("nothing asked for: status %d", status)
	}
	if err := os.WriteFile("there.yaml", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, errs := commanded(t, nil, "config", "init", "-t", "minimal", "-o", "there.yaml")
	if text, _ := os.ReadFile("there.yaml"); status == 0 || !strings.Contains(errs, "there.yaml exists") || string(text) != "mine" {
		t.Errorf("status %d, %s, %s", status, errs, text)
	}
	if _, out, _ := commanded(t, nil, "config", "init", "--search", "KV"); !strings.Contains(out, "kv_cache_test") || strings.Contains(out, "minimal") {
		t.Errorf("search:\n%s", out)
	}
	if status, _, errs := commanded(t, nil, "config", "init", "-t", "nope"); status != 1 || !strings.Contains(errs, "time_based_soak") {
		t.Errorf("%d %s", status, errs)
	}
}

const gridFile = `
benchmark:
  model: m
  endpoint: {url: "localhost:8000"}
  dataset: {isl: 64}
  phases: [{name: profiling, type: concurrency, concurrency: 2, requests: 4}]
  tokenizer: {name: builtin}
sweep: {type: grid, parameters: {phases.profiling.concurrency: [1, 2], phases.profiling.requests: [5, 6]}}
`

// TestConfigExpand: the listing is the recorded one of the Python tool (case x_exp).
func TestConfigExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("c.yaml", []byte(gridFile), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, errs := commanded(t, nil, "config", "expand", "c.yaml")
	want := "Sweep type: GridSweep (4 variations)\n\n[0] dir=concurrency_1__requests_5  label=phases.profiling.concurrency=1, phases.profiling.requests=5\n"
	if !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 6 {
		t.Errorf("%s%s", out, errs)
	}
	_, out, _ = commanded(t, nil, "config", "expand", "c.yaml", "-i", "1", "-f", "json")
	for _, part := range []string{`"dir_name": "concurrency_1__requests_6"`, `"phases.profiling.requests": 6`, `"requests": 6`} {
		if !strings.Contains(out, part) {
			t.Errorf("no %s in %s", part, out)
		}
	}
	if _, out, _ = commanded(t, nil, "config", "expand", "c.yaml", "-f", "yaml"); !strings.HasPrefix(out, "sweep_type: GridSweep\nvariations:\n  - index: 0\n    dir_name: concurrency_1__requests_5\n") {
		t.Error(out)
	}
	if status, _, errs := commanded(t, nil, "config", "expand", "c.yaml", "-i", "4"); status != 1 || !strings.Contains(errs, "--index 4") {
		t.Errorf("%d %s", status, errs)
	}
	if status, out, _ := commanded(t, nil, "config", "show", "c.yaml"); status != 0 || !strings.Contains(out, "timeout: 21600.0") {
		t.Errorf("show: %d %s", status, out)
	}
	if status, out, _ := commanded(t, nil, "config", "schema"); status != 0 || !strings.Contains(out, `"outcome_constraints"`) {
		t.Errorf("schema: %d", status)
	}
}

// TestFlagsOverAFile: what a flag says lands where AIPerf 0.13 puts it, and what JSON has no number for is a word.
func TestFlagsOverAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "benchmark:\n  model: m\n  tokenizer: {name: builtin}\n  endpoint: {url: 'localhost:1'}\n  dataset: {entries: 10, prompts: {isl: 9}, turns: 2}\n" +
		"  phases: {type: user_centric, rate: 5, users: 3, sessions: 6, duration: 2m, grace_period: inf}\n"
	if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs := commanded(t, nil, "profile", "--config", "c.yaml", "--request-rate", "9", "--num-sessions", "12", "--dry-run")
	for _, line := range []string{"      type: user_centric\n", "      rate: 9\n", "      users: 3\n", "      sessions: 12\n", "      entries: 12\n"} {
		if status != 0 || !strings.Contains(out, line) {
			t.Errorf("%d, no %q: %s", status, line, errs)
		}
	}
	if status, out, errs := commanded(t, nil, "config", "expand", "c.yaml", "--full", "--format", "json"); status != 0 || !strings.Contains(out, `"grace_period": "inf"`) {
		t.Errorf("%d %s", status, errs)
	}
}
