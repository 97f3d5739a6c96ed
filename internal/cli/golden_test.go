package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/testhome"
	"aiperf/internal/base/testrecording"
	"aiperf/internal/config"
)

// recorded is one command line with what the Python tool 0.13.0 made of it and what we make of it where that differs.
type recorded struct {
	Name       string         `json:"name"`
	Args       []string       `json:"args"`
	Files      []string       `json:"files"`
	Exit       int            `json:"exit"`
	Words      []string       `json:"stderr_contains_any"`
	Suggests   string         `json:"suggests"`
	Resolved   map[string]any `json:"resolved"`
	Dir        string         `json:"artifact_dir"`
	Trials     int            `json:"trials"`
	Seeds      []json.Number  `json:"seeds"`
	Variations *[]variation   `json:"variations"`
	Warns      bool           `json:"warns"`
	MultiRun   map[string]any `json:"multi_run"`
	// Of configuration files alone: the files themselves, the environment, and words that all must be in the message.
	Contents map[string]string `json:"contents"`
	Env      map[string]string `json:"env"`
	All      []string          `json:"stderr_contains"`
	Ours     *struct {
		Exit       *int           `json:"exit"`
		Resolved   map[string]any `json:"resolved"`
		Variations *[]variation   `json:"variations"`
	} `json:"ours"`
}

type variation struct {
	Dir    string         `json:"dir"`
	Label  string         `json:"label"`
	Values map[string]any `json:"values"`
}

// settledOtherwise are the recordings that the contract overrules elsewhere; the key that differs precedes the reason.
var settledOtherwise = map[string][2]string{
	"file-auto":             {"phases.profiling.requests", "max(10, 2 x concurrency) for burst, also with a file"},
	"file-conc50":           {"phases.profiling.requests", "max(10, 2 x concurrency) for burst, also with a file"},
	"file-sampling":         {"phases.profiling.requests", "max(10, 2 x concurrency) for burst, also with a file"},
	"fs-no":                 {"phases.profiling.requests", "max(10, 2 x concurrency) for burst, also with a file"},
	"tok-servercount":       {"phases.profiling.requests", "max(10, 2 x concurrency) for burst, also with a file"},
	"extra-jsonlist":        {"endpoint.extra.a:1", "an array of key:value items is two keys, not one"},
	"duration-sfx":          {"exit", "a length of time may name its unit"},
	"timeout-sfx":           {"exit", "a length of time may name its unit"},
	"goodput-ttft-nostream": {"exit", "a goodput without an objective that the run can judge is refused"},
	"acc":                   {"phases.profiling.requests", "as many requests as the benchmark has problems"},
	"acc-tasks":             {"phases.profiling.requests", "as many requests as the benchmark has problems"},
	"acc-nocot":             {"phases.profiling.requests", "as many requests as the benchmark has problems"},
	"acc-gsm8k":             {"phases.profiling.requests", "as many requests as the benchmark has problems"},
	"acc-sys":               {"phases.profiling.requests", "as many requests as the benchmark has problems"},
	"g-kserve":              {"exit", "recorded for the time before the type was built"},
	"prefix-exp-abs":        {"artifacts.prefix", "an absolute prefix is kept: files are written there"},
}

func readGolden[T any](t testing.TB, name string) []T {
	t.Helper()
	list := testrecording.Lines[T](t, filepath.Join("testdata", "golden", name))
	if len(list) == 0 {
		t.Fatalf("%s: no lines", name)
	}
	return list
}

// offline is a machine without a network and with an empty cache.
func offline(_ context.Context, run *config.Run) error {
	if n := run.Tokenizer.Name; n == "cl100k_base" {
		return nil
	}
	return errors.New("the tokenizer is not in the cache and there is no network")
}

// invoke runs one command line in an empty directory that holds some files.
func invoke(t *testing.T, files string, names []string, argv ...string) (status int, stdout, stderr string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(here, "testdata", "golden", files, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	p := &Program{
		Streams:       Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Width: 100},
		Profile:       func(context.Context, *config.Run, Streams) int { return 0 },
		FindTokenizer: offline,
	}
	status = Main(t.Context(), p, argv)
	return status, out.String(), errs.String()
}

func TestRecordedCommandLines(t *testing.T) {
	testhome.Slow(t)
	unbuilt := pinned(t, "args_notbuilt.txt")
	for _, c := range readGolden[recorded](t, "args.jsonl.gz") {
		t.Run(c.Name, func(t *testing.T) {
			status, out, errs := invoke(t, "files", c.Files, append(c.Args, "--dry-run")...)
			if unbuilt.refused(t, c.Name, status, errs) {
				return
			}
			differs, reason := compare(t, c, status, out, errs)
			want, settled := settledOtherwise[c.Name]
			switch {
			case settled && differs != want[0]:
				t.Errorf("should differ in %s (%s), differs in %q: %s", want[0], want[1], differs, reason)
			case !settled && differs != "":
				t.Errorf("%s: %s\n%s", differs, reason, errs)
			}
		})
	}
}

// compare returns the first thing that differs and how.
func compare(t *testing.T, c recorded, status int, out, errs string) (differs, reason string) {
	exit := c.Exit
	if c.Ours != nil && c.Ours.Exit != nil {
		exit = *c.Ours.Exit
	}
	switch {
	case status != exit:
		return "exit", fmt.Sprintf("status %d, want %d", status, exit)
	case exit != 0 && c.Exit != 0 && !containsAny(errs, c.Words):
		return "words", fmt.Sprintf("none of %v", c.Words)
	case exit != 0 && c.Suggests != "" && !strings.Contains(errs, c.Suggests):
		return "suggests", c.Suggests
	case exit != 0 && out != "":
		return "stdout", out
	case exit == 0 && c.Warns && errs == "":
		return "warns", "nothing is said"
	case exit != 0 || c.Resolved == nil && strings.HasPrefix(out, "aiperf "):
		return "", ""
	}
	file := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(file, []byte(unmask(out)), 0o600); err != nil {
		t.Fatal(err)
	}
	run, _, err := config.Load(file, config.DefaultEnvironment(), nil)
	if err != nil {
		return "yaml", err.Error()
	}
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(out), &doc); err != nil {
		return "yaml", err.Error()
	}
	want := map[string]any{}
	maps.Copy(want, c.Resolved)
	if c.Ours != nil {
		maps.Copy(want, c.Ours.Resolved)
	}
	for key, v := range want {
		if got := find(doc["benchmark"], key); !same(got, v) {
			return key, fmt.Sprintf("%v, want %v", got, v)
		}
	}
	if c.Dir != "" && find(doc["benchmark"], "artifacts.dir") != c.Dir {
		return "artifacts.dir", fmt.Sprint(find(doc["benchmark"], "artifacts.dir"), " want ", c.Dir)
	}
	for key, v := range c.MultiRun {
		if got := find(doc["multi_run"], key); !same(got, v) {
			return "multi_run." + key, fmt.Sprintf("%v, want %v", got, v)
		}
	}
	return compareCells(c, run)
}

func compareCells(c recorded, run *config.Run) (differs, reason string) {
	cells, err := run.Cells()
	if err != nil {
		return "cells", err.Error()
	}
	var want []variation
	if c.Variations != nil {
		want = *c.Variations
	}
	if c.Ours != nil && c.Ours.Variations != nil {
		want, c.Seeds = *c.Ours.Variations, nil // the recorded seeds are those of the recorded cells
	}
	if len(want) > 0 && len(want) != len(cells) {
		return "variations", fmt.Sprintf("%d cells, want %d", len(cells), len(want))
	}
	for i, v := range want {
		got := cells[i]
		if got.Dir != v.Dir || got.Label != v.Label {
			return "variations", fmt.Sprintf("%s %q, want %s %q", got.Dir, got.Label, v.Dir, v.Label)
		}
		for _, a := range got.Values {
			if _, told := v.Values[a.Path]; !told && run.Sweep.Type == config.SweepScenarios {
				continue // what is printed says the same in values of the benchmark
			}
			if run.Sweep.Type != config.SweepScenarios && !same(a.Values[0], v.Values[a.Path]) {
				return "variations", fmt.Sprintf("%s is %v, want %v", a.Path, a.Values[0], v.Values[a.Path])
			}
		}
	}
	for i, seed := range c.Seeds {
		if s := cells[i].Run.RandomSeed; s == nil || string(*s) != seed.String() {
			return "seeds", fmt.Sprintf("cell %d has %v, want %s", i, s, seed)
		}
	}
	if c.Trials != 0 && run.MultiRun.NumRuns != c.Trials {
		return "trials", fmt.Sprint(run.MultiRun.NumRuns)
	}
	return "", ""
}

// unmask gives masked secrets a value, so that the file reads back.
func unmask(s string) string { return strings.ReplaceAll(s, config.Redacted, "secret") }

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(strings.ToLower(s), strings.ToLower(w)) {
			return true
		}
	}
	return len(words) == 0
}

// find looks a dotted key up; entries of lists go by name or number, and a key may itself hold a dot.
func find(v any, path string) any {
	if path == "" {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
			if next, ok := v[path[:end]]; ok {
				return find(next, strings.TrimPrefix(path[end:], "."))
			}
		}
	case []any:
		head, rest, _ := strings.Cut(path, ".")
		for i, entry := range v {
			if m, ok := entry.(map[string]any); ok && m["name"] == head || fmt.Sprint(i) == head {
				return find(entry, rest)
			}
		}
	}
	return nil
}

// same compares values of YAML with values of JSON: numbers by value, nothing like null, {} and an absent flag.
func same(got, want any) bool {
	number := func(v any) (float64, bool) {
		switch n := v.(type) {
		case int:
			return float64(n), true
		case float64:
			return n, true
		}
		return 0, false
	}
	if a, ok := number(got); ok {
		if want == "inf" {
			return math.IsInf(a, 1)
		}
		b, ok := number(want)
		return ok && a == b
	}
	if m, ok := want.(map[string]any); ok && len(m) == 0 {
		return true
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	return bytes.Equal(a, b)
}

// refusal is one combination of load flags.
type refusal struct {
	ID    string   `json:"id"`
	Args  []string `json:"args"`
	Ours  string   `json:"ours"`
	Names []string `json:"message_names_one_of"`
}

func TestRefusals(t *testing.T) {
	for _, c := range readGolden[refusal](t, "refusals.jsonl.gz") {
		t.Run(c.ID, func(t *testing.T) {
			argv := []string{"profile", "--model", "m", "--endpoint-type", "chat", "--tokenizer", "builtin", "--ui", "none", "--url", "http://localhost:1"}
			for _, a := range c.Args {
				argv = append(argv, strings.TrimPrefix(a, "{dir}/"))
			}
			status, _, errs := invoke(t, "refusal_files", []string{"trace.jsonl", "st.jsonl"}, append(argv, "--dry-run")...)
			switch {
			case c.Ours == "refuse" && (status != 1 || !containsAny(errs, c.Names)):
				t.Errorf("status %d, want a refusal that names one of %v:\n%s", status, c.Names, errs)
			case strings.HasPrefix(c.Ours, "run") && status != 0:
				t.Errorf("status %d:\n%s", status, errs)
			case c.Ours == "run, warn" && !strings.Contains(errs, "warning: "):
				t.Errorf("runs without a warning:\n%s", errs)
			}
		})
	}
}
