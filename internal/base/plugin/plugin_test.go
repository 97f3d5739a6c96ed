package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes files below a new directory and returns the directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const program = "accuracy_grader:\n  %:\n    exec: [./grade, -v]\n"

func grader(name string, more ...string) string {
	return strings.ReplaceAll(program, "%", name) + strings.Join(more, "")
}

// TestCategories compares the list with the recorded one of the Python tool.
func TestCategories(t *testing.T) {
	raw, err := os.ReadFile("testdata/categories.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(want))
	for _, c := range Categories() {
		got = append(got, c.Name)
		if c.Description == "" {
			t.Errorf("%s has no description", c.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("categories %v\nwant %v", got, want)
	}
	for name, want := range map[string]string{"API-router": "API Router", "gpu_telemetry_collector": "GPU Telemetry Collector", "Zmq_Proxy": "ZMQ Proxy", "url-selection-strategy": "URL Selection Strategy"} {
		if c, ok := FindCategory(name); !ok || c.Title() != want {
			t.Errorf("%s: title %q, want %q", name, c.Title(), want)
		}
	}
}

func TestDiscovery(t *testing.T) {
	home := write(t, map[string]string{
		".aiperf/plugins/b/plugins.yaml": grader("b"), ".aiperf/plugins/a/plugins.yaml": grader("a"), ".aiperf/plugins/.hidden/plugins.yaml": grader("hidden"),
		".aiperf/plugins/a/package.yaml": "version: 1.2.3\ndescription: graders\n", "other/plugins.yaml": grader("other"), "many/x/plugins.yaml": grader("x"), "one/file.yaml": grader("one"),
	})
	t.Chdir(write(t, map[string]string{"plugins.yaml": grader("cwd"), "cwd/plugins.yaml": grader("cwd"), ".aiperf/plugins/cwd/plugins.yaml": grader("cwd")}))
	for _, c := range []struct {
		name, path, home string
		want             []string
	}{
		{"home", "", home, []string{"a", "b"}},
		{"a relative home is not read", "", ".", nil},
		{"an empty element is not the working directory", string(os.PathListSeparator), home, []string{"a", "b"}},
		{"path first", filepath.Join(home, "other") + ":" + filepath.Join(home, "many") + "::" + filepath.Join(home, "one/file.yaml"), home, []string{"other", "x", "one", "a", "b"}},
		{"each file once", filepath.Join(home, ".aiperf/plugins/b") + ":" + filepath.Join(home, ".aiperf/plugins"), home, []string{"b", "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Standard(func(name string) string { return map[string]string{"HOME": c.home, PathVariable: c.path}[name] })
			p.Folders = slices.DeleteFunc(p.Folders, func(f string) bool { return strings.HasPrefix(f, "/etc/") })
			s := Load(p)
			var got []string
			for _, e := range s.Entries() {
				got = append(got, e.Name)
			}
			if !slices.Equal(got, c.want) || len(s.Problems()) > 0 {
				t.Errorf("plug-ins %v, want %v; problems %v", got, c.want, s.Problems())
			}
		})
	}
	s := Load(Places{Folders: []string{filepath.Join(home, ".aiperf/plugins")}})
	if p := s.Packages()[0]; p.Name != "a" || p.Version != "1.2.3" || p.Description != "graders" || p.Plugins != 1 {
		t.Errorf("package %+v", p)
	}
}

// TestConflicts is check 3 of the specification of extensibility, and the rules of section 2.1.
func TestConflicts(t *testing.T) {
	endpoint := func(more string) string { return "endpoint:\n  X-y:\n    request: {body: '{}'}\n" + more }
	root := write(t, map[string]string{
		"a/plugins.yaml": endpoint(""), "b/plugins.yaml": endpoint(""), "c/plugins.yaml": endpoint("    priority: 5\n"), "d/plugins.yaml": endpoint("    priority: -1\n"),
		"e/plugins.yaml": "endpoint:\n  x_y:\n    class: my.module:Chat\n    priority: 9\n",
	})
	load := func(names ...string) *Set {
		for i := range names {
			names[i] = filepath.Join(root, names[i])
		}
		return Load(Places{Path: strings.Join(names, ":")})
	}
	for _, c := range []struct {
		order    []string
		winner   string
		beats    bool // a built-in type of the same name
		problems int
	}{
		{[]string{"a"}, "a", true, 0},
		{[]string{"a", "b"}, "a", true, 1},
		{[]string{"b", "a"}, "b", true, 1},
		{[]string{"a", "b", "c"}, "c", true, 1},
		{[]string{"d"}, "d", false, 0},
		{[]string{"d", "a"}, "a", true, 0},
		{[]string{"e", "d"}, "d", false, 0},
		{[]string{"e"}, "e", false, 0},
	} {
		t.Run(strings.Join(c.order, ""), func(t *testing.T) {
			s := load(slices.Clone(c.order)...)
			e, ok := s.Find("Endpoint", "x-Y")
			if !ok || e.Package != c.winner || e.BeatsBuiltIn() != c.beats || len(s.Problems()) != c.problems {
				t.Errorf("winner %s, beats a built-in one: %v, problems %v", e.Package, e.BeatsBuiltIn(), s.Problems())
			}
			if of := s.Of("endpoint"); len(of) != 1 || of[0].Package != c.winner {
				t.Errorf("list of winners %v", of)
			}
		})
	}
	s := load("a", "b", "c")
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], filepath.Join(root, "b/plugins.yaml")+":2: endpoint:x_y is not used") {
		t.Errorf("warnings %q", w)
	}
	if e, ok := s.Find("endpoint", "B:x-y"); !ok || e.Package != "b" {
		t.Errorf("b:x-y is %+v", e)
	}
	if _, ok := s.Find("endpoint", "z:x_y"); ok {
		t.Error("z:x_y was found")
	}
}

// TestProblems loads broken files together with a good one, which must still be there.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		loaded           bool // the file's own entries are loaded
	}{
		{"not YAML", "a: [", "plugins.yaml: not YAML: ", false},
		{"empty", "# nothing\n", "plugins.yaml: the manifest is empty", false},
		{"list", "- a\n", "plugins.yaml:1: found a list, but a manifest is a mapping", false},
		{"no entries", "schema_version: \"1.0\"\n", "defines no plug-in", false},
		{"newer", "schema_version: \"2.0\"\n" + grader("new"), `plugins.yaml:1: schema_version is "2.0"`, true},
		{"unknown category", grader("new") + "endpoints:\n  x: {class: a:B}\n", `plugins.yaml:4: unknown category "endpoints"; did you mean "endpoint"?`, false},
		{"unknown category, far", "foo:\n  x: {class: a:B}\n", `unknown category "foo"; allowed are accumulator, `, false},
		{"unknown key", grader("new", "    prioritty: 5\n"), `plugins.yaml:4: accuracy_grader:new: unknown key "prioritty", did you mean "priority"?`, false},
		{"priority", grader("new", "    priority: high\n"), `plugins.yaml:4: accuracy_grader:new: priority is "high", but an integer is needed`, false},
		{"exec text", "accuracy_grader:\n  new:\n    exec: ./grade\n", `plugins.yaml:3: accuracy_grader:new: exec: found "./grade", but a list is needed`, false},
		{"exec empty", "accuracy_grader:\n  new:\n    exec: []\n", "exec: found an empty list", false},
		{"exec nested", "accuracy_grader:\n  new:\n    exec: [a, [b]]\n", "exec: found a list in the list", false},
		{"nothing", "accuracy_grader:\n  new: {description: x}\n", "plugins.yaml:2: accuracy_grader:new: class or exec is missing", false},
		{"two kinds", grader("new", "    class: a:B\n"), "has exec and class, but a plug-in is only one of them", false},
		{"declarative grader", "accuracy_grader:\n  new: {request: {}}\n", "only endpoints have request", false},
		{"program for ui", "ui:\n  new: {exec: [a]}\n", "ui:new: an external program cannot provide this category", false},
		{"name", "ui:\n  a/b: {class: a:B}\n", `the name "a/b" is not allowed`, false},
		{"twice", "ui:\n  a: {class: a:B}\n  a: {class: a:B}\n", `plugins.yaml:3: "a" is given twice, first on line 2`, false},
		{"metadata", grader("new", "    metadata: 5\n"), `metadata: found "5", but a mapping is needed`, false},
		{"entry", "ui:\n  a: text\n", `plugins.yaml:2: ui:a: found "text", but a mapping`, false},
		{"itself", "ui: &u\n  a: {class: a:B, metadata: *u}\n", "metadata", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := write(t, map[string]string{"bad/plugins.yaml": c.text, "good/plugins.yaml": grader("good")})
			s := Load(Places{Folders: []string{root}})
			if _, ok := s.Find("accuracy_grader", "good"); !ok {
				t.Error("the good manifest was not loaded")
			}
			if _, ok := s.Find("accuracy_grader", "new"); ok != c.loaded {
				t.Errorf("an entry of the file was loaded: %v", ok)
			}
			if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], c.want) {
				t.Errorf("warnings %q\nwant %q", w, c.want)
			}
		})
	}
}

func TestOneSummaryOfRefusedFiles(t *testing.T) {
	root := write(t, map[string]string{"a/plugins.yaml": "[", "b/plugins.yaml": "foo: {}", "c/plugins.yaml": strings.Repeat("#", maxManifest+1)})
	s := Load(Places{Path: filepath.Join(root, "missing"), Folders: []string{root, filepath.Join(root, "none")}})
	w := s.Warnings()
	if len(w) != 1 || !strings.HasPrefix(w[0], "4 plug-in manifests could not be loaded: AIPERF_PLUGIN_PATH: ") || !strings.Contains(w[0], "4 MiB") {
		t.Errorf("warnings %q", w)
	}
}

func TestCommand(t *testing.T) {
	root := write(t, map[string]string{"a/grade": "", "a/plugins.yaml": "accuracy_grader:\n" +
		"  relative: {exec: [./grade, x]}\n  parent: {exec: [../b/grade]}\n  bare: {exec: [grade]}\n  search: {exec: [python3, grade.py]}\n  absolute: {exec: [/bin/true]}\n"})
	s := Load(Places{Folders: []string{root}})
	for name, want := range map[string]string{
		"relative": root + "/a/grade x", "parent": root + "/b/grade", "bare": root + "/a/grade", "search": "python3 grade.py", "absolute": "/bin/true",
	} {
		e, _ := s.Find("accuracy_grader", name)
		if got := strings.Join(e.Command(), " "); got != want || e.Dir() != root+"/a" {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestNone has no manifests: the usual case.
func TestNone(t *testing.T) {
	s := Load(Places{Folders: []string{t.TempDir(), "/nowhere/plugins"}})
	if len(s.Entries())+len(s.Packages())+len(s.Warnings()) > 0 {
		t.Errorf("%+v", s)
	}
	var nothing *Set
	if _, ok := nothing.Find("endpoint", "chat"); ok || nothing.Of("endpoint") != nil || nothing.Warnings() != nil {
		t.Error("a nil set has plug-ins")
	}
}

// TestChoose: a plug-in replaces the built-in type of its name unless its priority is negative, and a Python class is refused only if nothing else has
// the name. Installed reads the places of the environment again if they change.
func TestChoose(t *testing.T) {
	if len(Installed().Entries()) != 0 {
		t.Fatal("there are plug-ins in a new home")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "plugins.yaml")
	if err := os.WriteFile(file, []byte(`
accuracy_grader:
  math: {exec: [./math], priority: -1}
  exact_match: {exec: [./exact], env: [MY_TOKEN], timeout: 5m}
  fuzzy: {class: "a:Fuzzy"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(PathVariable, file)
	s := Installed()
	for name, want := range map[string]struct{ builtIn, ok, fails bool }{
		"math": {true, false, false}, "exact_match": {true, true, false}, "fuzzy": {false, false, true}, "other": {false, false, false},
	} {
		e, ok, err := s.Choose("accuracy_grader", name, want.builtIn)
		if ok != want.ok || (err != nil) != want.fails || ok && e.Name != name {
			t.Errorf("%s: %v %v %+v", name, ok, err, e)
		}
	}
	if _, ok, _ := s.Choose("accuracy_grader", "math", false); !ok {
		t.Error("a negative priority hides a plug-in whose name is not built in")
	}
	e, _ := s.Find("accuracy_grader", "exact-match")
	if fmt.Sprint(e.Env, e.Timeout) != "[MY_TOKEN] 5m0s" {
		t.Error(e.Env, e.Timeout)
	}
	pack := Normalize(filepath.Base(dir))
	if got := s.Names("accuracy_grader", []string{"math", "exact_match"}); fmt.Sprint(got) != fmt.Sprintf("[fuzzy %[1]s:math %[1]s:exact_match %[1]s:fuzzy]", pack) {
		t.Error(got)
	}
}
