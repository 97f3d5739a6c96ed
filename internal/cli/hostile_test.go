package cli

import (
	"os"
	"strings"
	"testing"
)

// hostile is a sound file, which the cases of TestHostileFiles spoil.
const hostile = "benchmark:\n  model: m\n  endpoint: {url: 'localhost:1'}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic, isl: 9}\n" +
	"  phases:\n    - {name: profiling, type: concurrency, requests: 4, concurrency: 2}\n"

// TestHostileFiles: files of odd shapes are read, or refused with the line and the key, and never with the words of a library alone. The Python tool
// gives the same verdicts but for those said.
func TestHostileFiles(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{ // want "" = the file is sound
		{"benchmark:\n", "\ufeffbenchmark:\n", ""},
		{"\n", "\r\n", ""},
		{"\n", "\r", ""},
		{"benchmark:\n", "---\nbenchmark:\n", ""},
		{"benchmark:\n", "%YAML 1.2\n---\nbenchmark:\n", ""},
		{"  model", "\tmodel", "line 2: found character that cannot start any token"},
		{"benchmark:\n", "a: 1\n---\nbenchmark:\n", "more than one document"},
		{hostile, "- a\n- b\n", "line 1: the file must be a mapping"},
		{hostile, "just words\n", "line 1: the file must be a mapping"},
		{hostile, "# nothing\n", "the file is empty"},
		{hostile, "benchmark: null\n", "benchmark.models, benchmark.endpoint, benchmark.datasets, benchmark.phases missing"},
		{"requests: 4", "requests: &n 4, sessions: *n", ""},
		{"concurrency: 2}", "concurrency: 2}\n    - {<<: {type: concurrency, requests: 1}, name: more, kind: profiling}", ""}, // the Python tool takes no merges
		{"tokenizer: {name: builtin}", "tokenizer: &t {name: *t}", "line 4: the alias *t is part of what it names"},
		{"model: m", "model: *nobody", "unknown anchor 'nobody'"},
		{"requests: 4", "requests: 4, requests: 5", "line 7, column 57: the key requests occurs twice"},
		{"{url: 'localhost:1'}", "{url: 'localhost:1', connectionReuse: pooled, connection_reuse: never}", "connection_reuse"},
		{"requests: 4", "requests: null", "has no end: add"},
		{"model: m", "model: null", "c.yaml:2: benchmark.models.items[0].name is empty"},
		{"'localhost:1'", "null", "c.yaml:3: benchmark.endpoint.urls is empty"},
		{"model: m", "model: {a: b}", "line 2: unknown key benchmark.models.a"},
		{"requests: 4", "requests: 4.5", "line 7: benchmark.phases[0].requests: 4.5 is not an integer"},
		{"requests: 4", "requests: true", "line 7: benchmark.phases[0].requests: true is not an integer"}, // 1 for the Python tool
		{"requests: 4", "requests: -1", "c.yaml:7: benchmark.phases.profiling.requests must be >= 1, not -1"},
		{"requests: 4", "requests: 99999999999999999999999", "line 7: benchmark.phases[0].requests: 9999999... is not an integer"},
		{"requests: 4", "requests: '4'", ""},
		{"type: concurrency", "type: poisson, rate: .nan", "c.yaml:7: benchmark.phases.profiling.rate must be > 0 and finite, not NaN"},
		{"'localhost:1'}", "'localhost:1', streaming: yes}", ""},
		{"'localhost:1'}", "'localhost:1', streaming: maybe}", "line 3: benchmark.endpoint.streaming: maybe is not true or false"},
		{"{type: synthetic, isl: 9}", strings.Repeat("{a: ", 150) + "1" + strings.Repeat("}", 150), "line 5: nested more than 100 deep"},
		{"'localhost:1'", "'${NOBODY_SETS_IT:http://h:8000/v1}'", ""},
		{"model: m", "model: '${NOBODY_SETS_IT}'", "line 2: benchmark.model: the environment has no variable NOBODY_SETS_IT"},
		{"model: m", "model: '${A'", "line 2: benchmark.model: ${A has no closing }"},
		{"model: m", "model: '{{ x'", "line 2: benchmark.models.items[0].name: template line 1: a tag {{ is not closed"},
		{"model: m", "model: '{{ nope }}'", "'nope' is undefined"},
		{"model: m", "model: \"{% include '/etc/passwd' %}\"", "found \"include\""},
		{"model: m", "model: '{% for i in range(1000000000) %}x{% endfor %}'", "range of more than 100000 items"},
		{"benchmark:\n", "variables: {a: '{{ b }}', b: '{{ a }}'}\nbenchmark:\n", "line 1: values that refer to each other: variables.a -> variables.b -> variables.a"},
		{"benchmark:\n", "variables: {a: '{{ a }}'}\nbenchmark:\n", "line 1: variables.a refers to itself"},
		{"concurrency: 2}", "concurency: 2, reqests: 3}", "unknown key benchmark.phases[0].reqests; did you mean requests?"},
		{"concurrency: 2}", "concurency: 2, reqests: 3}", "unknown key benchmark.phases[0].concurency; did you mean concurrency?"},
		{"model: m", "model: !!python/object/apply:os.system [\"true\"]", "line 2: values of kind !!python/object/apply:os.system are not supported"},
		{"model: m", "model: a\x07b", "control characters are not allowed"},
		{"model: m", "model: \xe9", "invalid"},
		{"requests: 4", "duration: 1d", "line 7: benchmark.phases[0].duration: \"1d\" is not a time"},
		{"benchmark:\n", "schemaVersion: '3.0'\nbenchmark:\n", "c.yaml:1: schemaVersion must be \"2.0\", not \"3.0\""},
		{"'localhost:1'}", "'localhost:1', headers: {A: \"x\\r\\nB: 1\"}}", "c.yaml:3: benchmark.endpoint.headers.A holds the control character"}, // sent by the Python tool
		{"concurrency: 2}\n", "concurrency: 2}\n  slos: {request_latency: '5'}\n", ""},
		{"concurrency: 2}\n", "concurrency: 2}\n  slos: {request_latency: fast}\n", "the threshold of request_latency is \"fast\", which is not a number"},
	} {
		t.Chdir(t.TempDir())
		text := strings.ReplaceAll(hostile, c.was, c.is)
		if text == hostile {
			t.Errorf("%q is not in the file", c.was)
		}
		if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, errs := commanded(t, nil, "config", "validate", "c.yaml")
		if (status == 0) != (c.want == "") || !strings.Contains(errs, c.want) {
			t.Errorf("%q: %d %s, want %q", c.is, status, errs, c.want)
		}
	}
}
