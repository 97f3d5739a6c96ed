package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/config"
)

// TestOurSettingsAreListed: docs/differences.md names every flag and every key of a configuration that the Python tool does not have. Its
// variables of the environment have one key together, environment.
func TestOurSettingsAreListed(t *testing.T) {
	text, err := os.ReadFile("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	flags, keys := words(t, "testdata/golden/python_flags.txt"), words(t, "testdata/golden/python_keys.txt")
	for _, row := range config.Rows() {
		if name := row.Name(); name != "" && !flags[name] && !strings.Contains(page, "`"+name) {
			t.Errorf("%s is ours, and the page does not name it", name)
		}
	}
	seen := map[reflect.Type]bool{}
	var walk func(at reflect.Type, path string)
	walk = func(at reflect.Type, path string) {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice {
			at = at.Elem()
		}
		if at.Kind() != reflect.Struct || at.PkgPath() != reflect.TypeFor[config.Run]().PkgPath() || seen[at] {
			return
		}
		seen[at] = true
		for i := range at.NumField() {
			key, _, _ := strings.Cut(at.Field(i).Tag.Get("yaml"), ",")
			if key == "" || key == "-" {
				continue
			}
			known := keys[strings.Replace(key, "schemaV", "schema_v", 1)] || strings.Contains(page, "`"+key+"`") || strings.Contains(page, "."+key+"`")
			if !known && !flagged(page, path+key) {
				t.Errorf("%s is ours, and the page does not name it", path+key)
			}
			if key != "environment" {
				walk(at.Field(i).Type, path+key+".")
			}
		}
	}
	walk(reflect.TypeFor[config.Run](), "")
}

// flagged reports whether a page names a flag of a key.
func flagged(page, path string) bool {
	key := strings.TrimPrefix(path, "benchmark.")
	for _, row := range config.Rows() {
		if (row.Key == key || strings.HasPrefix(row.Key, key+".")) && row.Name() != "" && strings.Contains(page, "`"+row.Name()) {
			return true
		}
	}
	return false
}

// words are the lines of a file.
func words(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, line := range strings.Fields(string(text)) {
		set[line] = true
	}
	if len(set) < 100 {
		t.Fatalf("%s holds %d words", path, len(set))
	}
	return set
}
