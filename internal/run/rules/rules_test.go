package rules

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
)

// TestRulesNameWhatThereIs: every key in a rule is a place of the configuration. The messages of the rules are tested in
// package cli.
func TestRulesNameWhatThereIs(t *testing.T) {
	inText := regexp.MustCompile(`\{([a-z_.]+)(=[a-z_]+)?\}`)
	for _, table := range [][]rule{loadRules, dataRules, mediaRules, endpointRules, outputRules} {
		for _, r := range table {
			keys := slices.Clone(r.keys)
			for _, m := range inText.FindAllStringSubmatch(r.text, -1) {
				keys = append(keys, m[1])
			}
			for _, key := range keys {
				if !exists(key) {
					t.Errorf("row %s: there is no key %s", r.row, key)
				}
			}
			if (r.text == "") == (r.problem == nil) || r.when == nil && r.problem == nil {
				t.Errorf("row %s %v: a rule has a text or tells one, and says when", r.row, r.keys)
			}
		}
	}
}

// exists reports whether the configuration has a place for a key.
func exists(key string) bool {
	parts := strings.Split(key, ".")
	for _, top := range []reflect.Type{reflect.TypeFor[config.Run](), reflect.TypeFor[config.Benchmark]()} {
		if has(top, parts) {
			return true
		}
	}
	return false
}

func has(at reflect.Type, parts []string) bool {
	for len(parts) > 0 && (at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice) {
		if at.Kind() == reflect.Slice { // the first part is the name of an entry
			parts = parts[1:]
		}
		at = at.Elem()
	}
	if len(parts) == 0 {
		return true
	}
	if at.Kind() != reflect.Struct {
		return false
	}
	for i := range at.NumField() {
		f := at.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		if name == parts[0] {
			return has(f.Type, parts[1:])
		}
	}
	return false
}

// TestSeverity: a setting without effect is refused as a flag and gives a warning in a file; a setting given at its default does not.
func TestSeverity(t *testing.T) {
	const key = "multi_run.cooldown_seconds"
	run := config.Default()
	for _, c := range []struct {
		given []Setting
		want  []Finding
	}{
		{nil, nil},
		{[]Setting{{Text: "--cool"}}, []Finding{{Text: "--cool needs <multi_run.num_runs> above 1"}}},
		{[]Setting{{Text: "c.yaml:1: cool", InFile: true}}, []Finding{{Text: "c.yaml:1: cool needs <multi_run.num_runs> above 1", Warning: true}}},
	} {
		found := Check(&Subject{
			Run: run, Spell: setting.Spell(func(key string) string { return "<" + key + ">" }),
			Given: func(k string) []Setting {
				if k == key {
					return c.given
				}
				return nil
			},
		})
		if !slices.Equal(found, c.want) {
			t.Errorf("%v: %v, want %v", c.given, found, c.want)
		}
	}
}
