package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/testhome"
	"aiperf/internal/cli/exampleconfigs"
)

// schemaOf reads the schema that config schema prints.
func schemaOf(t *testing.T) *schemaCheck {
	t.Helper()
	status, out, errs := commanded(t, nil, "config", "schema")
	c := &schemaCheck{}
	if err := json.Unmarshal([]byte(out), &c.top); status != 0 || err != nil {
		t.Fatalf("%d %v %s", status, err, errs)
	}
	return c
}

// schemaCheck holds values against a JSON Schema, with the words of it that ours has; make test-schema holds them against it with a library.
type schemaCheck struct{ top map[string]any }

// faults says where a value breaks a schema.
func (c *schemaCheck) faults(s map[string]any, v any, at string) (wrong []string) {
	say := func(format string, a ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, a...)) }
	for word, rule := range s {
		switch word {
		case "$ref":
			target := any(c.top)
			for _, part := range strings.Split(strings.TrimPrefix(rule.(string), "#/"), "/") {
				switch n := target.(type) {
				case map[string]any:
					target = n[part]
				case []any:
					target = n[slices.Index([]string{"0", "1", "2"}, part)]
				}
			}
			wrong = append(wrong, c.faults(target.(map[string]any), v, at)...)
		case "anyOf", "oneOf", "allOf":
			var all []string
			met := 0
			for _, one := range rule.([]any) {
				some := c.faults(one.(map[string]any), v, at)
				all = append(all, some...)
				if len(some) == 0 {
					met++
				}
			}
			if word == "anyOf" && met == 0 || word == "oneOf" && met != 1 || word == "allOf" && met < len(rule.([]any)) {
				wrong = append(append(wrong, all...), fmt.Sprintf("%s: meets %d of %s", at, met, word))
			}
		case "if":
			branch := "then"
			if len(c.faults(rule.(map[string]any), v, at)) > 0 {
				branch = "else"
			}
			if then, ok := s[branch].(map[string]any); ok {
				wrong = append(wrong, c.faults(then, v, at)...)
			}
		case "not":
			if len(c.faults(rule.(map[string]any), v, at)) == 0 {
				say("%v is just that", v)
			}
		case "contains":
			if list, ok := v.([]any); ok && !slices.ContainsFunc(list, func(one any) bool { return len(c.faults(rule.(map[string]any), one, at)) == 0 }) {
				say("no entry is as one must be")
			}
		case "prefixItems":
			list, _ := v.([]any)
			for i, one := range list[:min(len(list), len(rule.([]any)))] {
				wrong = append(wrong, c.faults(rule.([]any)[i].(map[string]any), one, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "propertyNames":
			members, _ := v.(map[string]any)
			for key := range members {
				wrong = append(wrong, c.faults(rule.(map[string]any), key, at+"."+key)...)
			}
		case "minLength":
			if text, ok := v.(string); ok && float64(len(text)) < rule.(float64) {
				say("%q is too short", text)
			}
		case "maxProperties", "maxItems":
			list, _ := v.([]any)
			members, _ := v.(map[string]any)
			if float64(len(list)+len(members)) > rule.(float64) {
				say("has too many members")
			}
		case "type":
			if !slices.ContainsFunc(oneOrMore(rule), func(kind any) bool { return isA(v, kind.(string)) }) {
				say("%v is not %v", v, rule)
			}
		case "enum":
			if !slices.ContainsFunc(rule.([]any), func(one any) bool { return reflect.DeepEqual(one, v) || numberOf(one) == numberOf(v) }) {
				say("%v is not one of %v", v, rule)
			}
		case "const":
			if !reflect.DeepEqual(rule, v) {
				say("%v is not %v", v, rule)
			}
		case "pattern":
			if text, ok := v.(string); ok && !regexp.MustCompile(rule.(string)).MatchString(text) {
				say("%q does not match %v", text, rule)
			}
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			f, limit := numberOf(v), rule.(float64)
			if f < limit && strings.HasSuffix(strings.ToLower(word), "minimum") || f > limit && strings.HasSuffix(strings.ToLower(word), "maximum") ||
				f == limit && strings.HasPrefix(word, "exclusive") {
				say("%v breaks %s %v", v, word, limit)
			}
		case "minItems":
			if list, ok := v.([]any); ok && float64(len(list)) < rule.(float64) {
				say("has %d entries", len(list))
			}
		case "items":
			list, _ := v.([]any)
			before, _ := s["prefixItems"].([]any)
			for i, one := range list {
				if i >= len(before) {
					wrong = append(wrong, c.faults(rule.(map[string]any), one, fmt.Sprintf("%s[%d]", at, i))...)
				}
			}
		case "required":
			members, ok := v.(map[string]any)
			for _, key := range rule.([]any) {
				if !ok {
					break
				}
				if _, there := members[key.(string)]; !there {
					say("lacks %v", key)
				}
			}
		case "properties", "additionalProperties":
			if word == "additionalProperties" && s["properties"] != nil {
				continue // checked together with them
			}
			known, _ := s["properties"].(map[string]any)
			members, _ := v.(map[string]any)
			for key, one := range members {
				switch rest := s["additionalProperties"].(type) {
				case bool:
					if known[key] == nil && !rest {
						say("unknown key %s", key)
					}
				case map[string]any:
					wrong = append(wrong, c.faults(rest, one, at+"."+key)...)
				}
				if below, ok := known[key].(map[string]any); ok {
					wrong = append(wrong, c.faults(below, one, at+"."+key)...)
				}
			}
		case "$schema", "$defs", "title", "description", "then", "else":
		default:
			say("the check does not know the word %s", word)
		}
	}
	return wrong
}

func oneOrMore(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// numberOf is a number, NaN (which breaks no bound) for anything else.
func numberOf(v any) float64 {
	switch n := v.(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	return math.NaN()
}

func isA(v any, kind string) bool {
	ok := false
	switch kind {
	case "string":
		_, ok = v.(string)
	case "boolean":
		_, ok = v.(bool)
	case "number":
		ok = !math.IsNaN(numberOf(v))
	case "integer":
		f := numberOf(v)
		ok = f == math.Trunc(f)
	case "array":
		_, ok = v.([]any)
	case "object":
		_, ok = v.(map[string]any)
	case "null":
		ok = v == nil
	}
	return ok
}

// check is what is wrong with a file by the schema.
func (c *schemaCheck) check(t *testing.T, text string) []string {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return c.faults(c.top, v, "")
}

// TestSchemaTakesWhatIsRight: no editor underlines anything in a template, or in an example of the page on configuration files.
func TestSchemaTakesWhatIsRight(t *testing.T) {
	c := schemaOf(t)
	n := 0
	for _, one := range exampleconfigs.All() {
		n++
		if wrong := c.check(t, one.With("", "")); len(wrong) > 0 {
			t.Errorf("template %s: %s", one.Name, strings.Join(wrong, "\n"))
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	pages = slices.DeleteFunc(pages, func(page string) bool { return filepath.Base(page) == "plugins.md" }) // its files are manifests
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			examples++
			file := block[1]
			if !strings.Contains(file, "benchmark:") { // a part of one
				file = "benchmark:\n  " + strings.ReplaceAll(file, "\n", "\n  ")
			}
			file = completed(file)
			if wrong := c.check(t, file); len(wrong) > 0 {
				t.Errorf("%s: %s%s", page, block[1], strings.Join(wrong, "\n"))
			}
			path := filepath.Join(t.TempDir(), "example.yaml")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			if status, out, errs := commanded(t, nil, "config", "validate", path); status != 0 {
				t.Errorf("%s: %s%s%s", page, file, out, errs)
			}
		}
	}
	spoken := regexp.MustCompile("`((?:sweep|multi_run|variables): \\{[^`]+)`")
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range spoken.FindAllStringSubmatch(string(text), -1) { // … stands for more entries, or for a name
			examples++
			said := strings.NewReplacer(", …", "", "…", "request_latency").Replace(strings.Join(strings.Fields(span[1]), " "))
			if wrong := c.check(t, completed(said+"\nbenchmark:\n")); len(wrong) > 0 {
				t.Errorf("%s: %s: %s", page, said, strings.Join(wrong, "\n"))
			}
		}
	}
	if n != 27 || examples < 3 {
		t.Errorf("%d templates and %d examples only", n, examples)
	}
}

// completed adds to the body of a file what a file must have.
func completed(file string) string {
	for _, other := range []string{"model: m", "endpoint: {url: localhost:1}", "tokenizer: {name: builtin}", "dataset: {isl: 9}", "phases: {type: concurrency, requests: 2}"} {
		if key, _, _ := strings.Cut(other, ":"); !regexp.MustCompile(`(?m)^  ` + key + `s?:`).MatchString(file) {
			file = strings.TrimRight(file, "\n") + "\n  " + other
		}
	}
	return file + "\n"
}

// unschemed are the recorded files that the binary refuses and no schema can: what refers to other parts of the file, or to what is outside.
var unschemed = []string{
	"dup_key", "env_jinja", "env_unterminated", "jinja_cycle", "jinja_undefined", "phase_names_dup", // before keys are looked at, or between entries
	"dist_median_gt", "weights_bad", "zip_bad", // between numbers
	"grid_unknown", "magic_and_sweep", // paths into the file
}

// TestSchemaAgreesWithTheBinary: what the binary takes no editor underlines, and the reverse, for every recorded file and for files of other shapes
// that are taken: flat ones, words in another case, numbers in quotes, keys of the Python tool that change nothing.
func TestSchemaAgreesWithTheBinary(t *testing.T) {
	testhome.Slow(t)
	c := schemaOf(t)
	files := map[string]string{
		"flat":   "model: m\nendpoint: {url: 'localhost:1'}\ntokenizer: {name: builtin}\ndataset: {isl: 9}\nphases: {type: concurrency, requests: 2}\nrandomSeed: 3\n",
		"flat 2": "model: m\nendpoint: {url: 'localhost:1'}\ntokenizer: {name: builtin}\ndataset: {isl: 9}\nphasen: {type: concurrency, requests: 2}\n",
	}
	for name, body := range map[string]string{
		"case":     "endpoint: {url: localhost:1, type: Chat-Embeddings, connectionReuse: STICKY_user-sessions}\n  phases: {type: User-Centric, rate: 2, users: 2, requests: 4}\n  dataset: {isl: 9, turns: 2}",
		"case 2":   "dataset: {isl: 9, sampling: SHUFFLE}\n  models: {strategy: Round-Robin, items: [{name: m}]}\n  runtime: {ui: Simple}",
		"case 3":   "accuracy: {benchmark: MMLU, grader: Multiple-Choice}",
		"quoted":   "endpoint: {url: localhost:1, timeout: '30', streaming: 'true'}\n  phases: {type: concurrency, requests: '4', concurrency: '2'}\n  dataset: {isl: '9', entries: '3'}",
		"idle":     "runtime: {workersMin: 3, communication: {type: tcp, records_port: 5}}\n  metrics: {}\n  phases: {type: concurrency, requests: 2, burst_phase_starts: false}",
		"null":     "phases: {type: concurrency, requests: 2, concurrency: null, duration: null}\n  slos: null\n  runtime: {ui: null}",
		"quoted 2": "phases: {type: concurrency, requests: 'four'}",
		"word":     "endpoint: {url: localhost:1, type: chatt}",
		"time":     "phases: {type: concurrency, duration: 2 weeks}",
		"first":    "phases: [{name: a, kind: profiling, type: concurrency, requests: 2, seamless: true}]",
		"device":   "phases: [{name: NUL, kind: profiling, type: concurrency, requests: 2}]",
		"weights":  "models: {strategy: Weighted, items: [{name: a, weight: 1}, {name: b}]}",
		"files":    "artifacts: {summary: false, records: [jsonl]}",
		"inline":   "dataset: {type: file, records: [{text: a, role: user}]}",
		"inline 2": "dataset: {type: file, records: [{text: a, txet: b}]}",
		"inline 3": "dataset: {type: file, format: Multi-Turn, records: [{turns: [{text: a}, {text: b, dleay: 3}]}]}",
		"inline 4": "dataset: {type: file, format: random_pool, records: {a: [{text: b}], c: [{text: d, delay: 3}]}}",
		"inline 5": "dataset: {type: file, format: raw_payload, records: [{messages: [{role: user, content: a}], anything: 1}]}",
		"inline 6": "dataset: {type: file, format: mooncake_trace, records: [{input_length: 5, outputLength: 3}]}",
		"inline 7": "dataset: {type: file, format: mooncake_trace, payload_rows: true, records: [{input_length: 5, colour: 3}]}",
		"rows":     "dataset: {type: file, path: x, records: [{text: a}]}",
	} {
		files[name] = completed("benchmark:\n  " + body)
	}
	for _, one := range readGolden[recorded](t, "yaml.jsonl.gz") {
		for name, text := range one.Contents {
			if strings.HasPrefix(name, "c.") && !slices.Contains(unschemed, one.Name) && len(one.Env) == 0 {
				files[one.Name] = text
			}
		}
	}
	t.Chdir(t.TempDir())
	compared, refused := 0, 0
	for name, text := range files {
		var v any
		if yaml.Unmarshal([]byte(text), &v) != nil {
			continue // no YAML at all
		}
		if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errs := commanded(t, nil, "config", "validate", "c.yaml")
		if strings.Contains(errs, "file of GenAI-Perf") || strings.Contains(errs, "does not exist") && name != "rows" {
			continue // of another schema; with another file next to it
		}
		compared++
		if status != 0 {
			refused++
		}
		if wrong := c.faults(c.top, v, ""); (len(wrong) == 0) != (status == 0) {
			t.Errorf("%s: the binary says %d %s%s\nthe schema %q", name, status, out, errs, wrong)
		}
	}
	if compared < 90 || refused < 20 {
		t.Errorf("%d files compared, %d refused", compared, refused)
	}
}

// TestSchemaRefusesWhatIsWrong: types, bounds, words and keys, at every depth and in both spellings of a key. A text that is computed may stand
// for any number.
func TestSchemaRefusesWhatIsWrong(t *testing.T) {
	c := schemaOf(t)
	for body, want := range map[string]string{
		`phases: {type: concurrency, concurrency: 4}`:                        "",
		`phases: {type: concurrency, concurrency: "${N:4}"}`:                 "",
		`phases: {type: concurrency, concurrency: "{{ n }}"}`:                "",
		`phases: {type: concurrency, concurrency: many}`:                     "many",
		`phases: {type: concurrency, concurrency: 0}`:                        "minimum",
		`phases: {type: concurrency, concurency: 4}`:                         "concurency",
		`phases: {type: quick}`:                                              "quick",
		`phases: {type: "${TYPE:poisson}", duration: 2m, gracePeriod: inf}`:  "",
		`phases: {type: poisson, duration: soon}`:                            "soon",
		`phases: {type: poisson, gracePeriods: 3}`:                           "gracePeriods",
		`phases: {type: poisson, rateSeries: {points: [{time_s: 0}]}}`:       "",
		`phases: {type: poisson, rate_series: {point: []}}`:                  "point",
		`endpoint: {url: x, streaming: "${S}"}`:                              "",
		`endpoint: {url: x, streaming: yes please}`:                          "yes please",
		`endpoint: {url: x, useServerTokenCount: 3}`:                         "3",
		`dataset: {isl: "{{ isl }}", osl: {mean: "{{ a }}", stddev: 2}}`:     "",
		`dataset: {isl: {peaks: [{peaks: [3, {mean: 4, weight: 2}]}, 5]}}`:   "",
		`dataset: {isl: {peaks: [{peaks: [3, {maen: 4}]}, 5]}}`:              "maen",
		`dataset: {isl: {peaks: [{distribution: {mean: [1]}}, 5]}}`:          "[1]",
		`dataset: {isl: {points: [{value: 3, weight: 0}]}}`:                  "exclusiveMinimum",
		`dataset: {isl: long}`:                                               "long",
		`dataset: {type: file, records: [{text: a}]}`:                        "",
		`dataset: {type: file, records: {a: [{text: a}], b: [{text: b}]}}`:   "",
		`dataset: {type: file, records: some}`:                               "some",
		`artifacts: {user_files: [{path: a, content: "{{ model }}"}]}`:       "",
		`artifacts: {user_files: [{path: a, content: [1, 2], mode: 3}]}`:     "mode",
		`logging: {level: debug}`:                                            "",
		`logging: {level: loud}`:                                             "loud",
		`gpu_telemetry: false`:                                               "",
		`gpu_telemetry: {enabled: 3}`:                                        "3",
		`models: {strategy: weighted, items: [{name: a, weight: "${W:1}"}]}`: "",
		`models: {strategy: weighted, items: [{name: a, wieght: 1}]}`:        "wieght",
	} {
		body = strings.Replace(body, "phases: {", "phases: {requests: 2, rate: 3, ", 1)
		wrong := strings.Join(c.check(t, completed("benchmark:\n  "+body)), "\n")
		if (wrong == "") != (want == "") || !strings.Contains(wrong, want) {
			t.Errorf("%s: %q, want %q", body, wrong, want)
		}
	}
	if wrong := c.check(t, "variables: {a: 1}\nbenchmrk: {}"); len(wrong) != 2 {
		t.Errorf("%q, want the unknown key and the missing benchmark", wrong)
	}
}
