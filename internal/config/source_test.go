package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// loaded reads a file of some text with some variables of the environment.
func loaded(t *testing.T, text string, env map[string]string) (*Run, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run, _, err := Load(file, DefaultEnvironment(), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	return run, err
}

const computed = `
variables: {base: 100, isl: "{{ base * 2 }}", host: "${SERVER:localhost}"}
benchmark:
  model: "org/${MODEL}"
  endpoint: {url: "{{ host }}:8000", streaming: "{{ base > 50 }}", extra: {n: "${N:3}", text: "a${N:3}", note: "{{ '007' }}x"}}
  dataset: {type: synthetic, isl: "{{ isl }}", osl: "{{ isl // 10 }}"}
  phases: {type: poisson, rate: "{{ base / 40 }}", requests: "{{ phases.profiling.concurrency * 3 }}", concurrency: "{{ base // 50 }}"}
`

// TestValuesAreComputed: hand-computed values of variables of the environment and of expressions, with their types.
func TestValuesAreComputed(t *testing.T) {
	r, err := loaded(t, computed, map[string]string{"MODEL": "x"})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Profiling()
	extra := func(k string) string { v, _ := r.Endpoint.Extra.Get(k); return string(v) }
	for name, ok := range map[string]bool{
		"model": r.Models.Items[0].Name == "org/x", "url": r.Endpoint.URLs[0] == "localhost:8000", "streaming": r.Endpoint.Streaming,
		"isl": r.Dataset().Prompts.ISL.MeanOr(0) == 200, "osl": r.Dataset().Prompts.OSL.MeanOr(0) == 20, "rate": *p.Rate == 2.5,
		"concurrency": *p.Concurrency == 2, "a value that reads a computed one": *p.Requests == 6,
		"a whole value has a type": extra("n") == "3", "a part stays text": extra("text") == `"a3"`, "text": extra("note") == `"007x"`,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, r.Benchmark)
		}
	}
}

func TestComputedValuesRefuse(t *testing.T) {
	body := "\nbenchmark: {model: m, endpoint: {url: h}, dataset: {isl: \"%\"}, phases: {type: concurrency, requests: 1}}\n"
	for text, want := range map[string]string{
		strings.Replace(body, "%", "${NO}", 1):                                         "line 2: benchmark.dataset.isl: the environment has no variable NO",
		strings.Replace(body, "%", "${NO", 1):                                          "has no closing }",
		strings.Replace(body, "%", "{{ nope }}", 1):                                    "benchmark.datasets[0].prompts.isl: template line 1: 'nope' is undefined",
		strings.Replace(body, "%", "{{ 1 + }}", 1):                                     "line 2: benchmark.datasets[0].prompts.isl: template line 1",
		"variables: {a: '{{ b }}', b: '{{ a }}'}" + strings.Replace(body, "%", "1", 1): "values that refer to each other: variables.a -> variables.b -> variables.a",
	} {
		if _, err := loaded(t, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestCellsOfComputedFiles: a cell computes its values anew, what was changed after the file was read stays changed, and what is printed has
// the same cells.
func TestCellsOfComputedFiles(t *testing.T) {
	for name, tt := range map[string]struct{ sweep, want string }{
		"an axis that an expression reads": {"{type: grid, parameters: {concurrency: [1, 5]}}", "concurrency_1: 1 3 true, concurrency_5: 5 15 true"},
		"a variable":                       {"{type: zip, parameters: {variables.base: [50, 200]}}", "base_50: 1 3 true, base_200: 4 12 true"},
		"scenarios":                        {"{type: scenarios, runs: [{name: a, variables: {base: 150}}, {name: b, benchmark: {phases: [{name: profiling, requests: 9}]}}]}", "a: 3 9 true, b: 2 9 true"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := loaded(t, computed+"sweep: "+tt.sweep+"\n", map[string]string{"MODEL": "x"})
			if err != nil {
				t.Fatal(err)
			}
			r.TakeFirst()
			r.Endpoint.Streaming = true
			r.Endpoint.URLs = []string{"http://h"}
			check := func(r *Run) {
				cells, err := r.Cells()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, c := range cells {
					p := c.Run.Profiling()
					got = append(got, c.Dir+": "+itoa(*p.Concurrency)+" "+itoa(*p.Requests)+" "+map[bool]string{true: "true", false: "false"}[c.Run.Endpoint.Streaming])
				}
				if s := strings.Join(got, ", "); s != tt.want {
					t.Errorf("\n got %s\nwant %s", s, tt.want)
				}
			}
			check(r)
			text, err := r.YAML()
			if err != nil {
				t.Fatal(err)
			}
			again, err := loaded(t, string(text), nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			check(again)
		})
	}
}

func TestVariablesAreAMapping(t *testing.T) {
	if _, err := loaded(t, "variables: [1]\nbenchmark: {model: m}\n", nil); err == nil || !strings.Contains(err.Error(), "line 1: variables: want a mapping") {
		t.Error(err)
	}
}
