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

	"aiperf/internal/templates"
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
		case "anyOf":
			var all []string
			if !slices.ContainsFunc(rule.([]any), func(one any) bool {
				some := c.faults(one.(map[string]any), v, at)
				all = append(all, some...)
				return len(some) == 0
			}) {
				wrong = append(wrong, all...)
			}
		case "type":
			if !slices.ContainsFunc(oneOrMore(rule), func(kind any) bool { return isA(v, kind.(string)) }) {
				say("%v is not %v", v, rule)
			}
		case "enum":
			if !slices.ContainsFunc(rule.([]any), func(one any) bool { return reflect.DeepEqual(one, v) }) {
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
			for i, one := range list {
				wrong = append(wrong, c.faults(rule.(map[string]any), one, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "required":
			members, _ := v.(map[string]any)
			for _, key := range rule.([]any) {
				if _, there := members[key.(string)]; !there {
					say("lacks %v", key)
				}
			}
		case "properties", "additionalProperties":
			if word == "additionalProperties" && s["properties"] != nil {
				continue // looked at beside them
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
		case "$schema", "$defs", "title", "description":
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
	for _, one := range templates.All() {
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
			if wrong := c.check(t, file); len(wrong) > 0 {
				t.Errorf("%s: %s%s", page, block[1], strings.Join(wrong, "\n"))
			}
			path := filepath.Join(t.TempDir(), "example.yaml")
			for _, other := range []string{"model: m", "endpoint: {url: localhost:1}", "tokenizer: {name: builtin}", "dataset: {isl: 9}", "phases: {type: concurrency, requests: 2}"} {
				if key, _, _ := strings.Cut(other, ":"); !strings.Contains(file, "  "+key+":") {
					file += "\n  " + other
				}
			}
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			if status, out, errs := commanded(t, nil, "config", "validate", path); status != 0 {
				t.Errorf("%s: %s%s%s", page, file, out, errs)
			}
		}
	}
	if n != 27 || examples < 2 {
		t.Errorf("%d templates and %d examples only", n, examples)
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
		wrong := strings.Join(c.check(t, "benchmark: {"+body+"}"), "\n")
		if (wrong == "") != (want == "") || !strings.Contains(wrong, want) {
			t.Errorf("%s: %q, want %q", body, wrong, want)
		}
	}
	if wrong := c.check(t, "variables: {a: 1}\nbenchmrk: {}"); len(wrong) != 2 {
		t.Errorf("%q, want the unknown key and the missing benchmark", wrong)
	}
}
