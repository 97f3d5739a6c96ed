package archtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/testhome"
)

// step finds one edit of a page: a file, the beginning of a line in it, and the text that goes above, below or instead of that line; page finds a new file.
var (
	step = regexp.MustCompile("In `([^`]+)`, (above|below|instead of) `([^`]+)`:\n\n```go\n((?s:.*?))```\n")
	page = regexp.MustCompile("Write `([^`]+)`:\n\n```go\n((?s:.*?))```\n")
)

// howto is the program with the edits of all pages, and the number of files that each page touches. A build compiles most of the module, so the tests
// share one. The edits are independent: each changes other lines or another file.
var howto struct {
	once    sync.Once
	program string
	files   map[string]int
}

func TestMain(m *testing.M) { os.Exit(testhome.Run(m)) } // removes the program

// followed returns the program with the edits of all pages, and the number of files that each page touches.
func followed(t *testing.T) (program string, files map[string]int) {
	t.Helper()
	howto.once.Do(func() {
		howto.program, howto.files = follow(t, "flag.md", "axis.md", "metric.md", "observer.md", "telemetry.md", "column.md")
	})
	if howto.program == "" {
		t.Fatal("the program with the edits of the pages could not be built; the first test that needed it has the error")
	}
	return howto.program, howto.files
}

// follow builds the program with the edits of some pages. It returns the program and the number of files that each page touches. The files of the module
// stay as they are.
func follow(t *testing.T, pages ...string) (program string, files map[string]int) {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	dir, err := os.MkdirTemp("", "howto")
	if err != nil {
		t.Fatal(err)
	}
	edited, replace, files := map[string]string{}, map[string]string{}, map[string]int{}
	at := func(path string) string {
		path, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, name := range pages {
		text, touched := read(at("docs/howto/examples/"+name)), map[string]bool{}
		for _, m := range page.FindAllStringSubmatch(text, -1) {
			edited[at(m[1])], touched[m[1]] = m[2], true
		}
		for _, m := range step.FindAllStringSubmatch(text, -1) {
			path := at(m[1])
			if edited[path] == "" {
				edited[path] = read(path)
			}
			edited[path], touched[m[1]] = beside(t, edited[path], m[1], m[2], m[3], m[4]), true
		}
		if files[name] = len(touched); strings.Count(text, "```go\n") != len(page.FindAllString(text, -1))+len(step.FindAllString(text, -1)) {
			t.Errorf("%s: a piece of code says not where it goes", name)
		}
	}
	for path, source := range edited {
		replace[path] = filepath.Join(dir, strings.ReplaceAll(filepath.Base(filepath.Dir(path)), ".", "_")+"_"+filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "aiperf")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-overlay", list, "-o", program, "./cmd/aiperf")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program, files
}

// beside puts text above, below or instead of the one line that begins with some words, whatever blanks are in between.
func beside(t *testing.T, source, file, where, words, text string) string {
	t.Helper()
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	var out strings.Builder
	found := 0
	for line := range strings.Lines(source) {
		if !strings.HasPrefix(squeeze(line), squeeze(words)) {
			out.WriteString(line)
			continue
		}
		found++
		switch where {
		case "above":
			line = text + line
		case "below":
			line += text
		default:
			line = text
		}
		out.WriteString(line)
	}
	if found != 1 {
		t.Fatalf("%s has %d lines that begin with %q, want one", file, found, words)
	}
	return out.String()
}

// TestHowtoFlag: the edits of the page give a complete flag and change two files.
func TestHowtoFlag(t *testing.T) {
	testhome.Slow(t)
	program, files := followed(t)
	if files["flag.md"] != 2 {
		t.Errorf("the page touches %d files, not two", files["flag.md"])
	}
	dir := t.TempDir()
	config := "benchmark:\n  model: m\n  endpoint: {url: h}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n" +
		"  phases: {type: concurrency, requests: 1, duration: 9, extra_grace: 90}\n"
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	const plain = "profile --dry-run -m m --tokenizer builtin --benchmark-duration 5"
	for _, c := range []struct {
		line, want string
		fails      bool
	}{
		{plain + " --extra-grace 2s", "extra_grace: 2.0", false},
		{plain + " --extra_grace=500ms", "extra_grace: 0.5", false},
		{plain + " --extra-grace 1,2", "phases.profiling.extra_grace: [1.0, 2.0]", false},
		{plain + " --extra-grace 61", "--extra-grace: \"61\" must be >= 0 and <= 60", true},
		{plain + " --extra-grase 1", "did you mean --extra-grace?", true},
		{"profile --dry-run --config c.yaml", "c.yaml:6: benchmark.phases.profiling.extra_grace must be >= 0 and <= 60, not 90", true},
		{"profile --dry-run --config c.yaml --extra-grace 7", "extra_grace: 7.0", false},
		{"profile --help extra-grace", "--extra-grace TIME[,TIME…]", false},
		{"__complete profile --extra", "--extra-grace\twait this much longer", false},
		{"config schema", `"description": "wait this much longer for answers; --extra-grace"`, false},
	} {
		cmd := exec.Command(program, strings.Fields(c.line)...)
		cmd.Dir = dir
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); (err != nil) != c.fails || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.line, err, c.want, out.String())
		}
	}
}

// TestHowtoAxis: the edits of the page give an axis with cells, help and bounds, and change one file.
func TestHowtoAxis(t *testing.T) {
	testhome.Slow(t)
	program, files := followed(t)
	if files["axis.md"] != 1 {
		t.Errorf("the page touches %d files, not one", files["axis.md"])
	}
	const plain = "profile --dry-run -m m --tokenizer builtin --concurrency 2 --request-count 4"
	for _, c := range []struct {
		line, want string
		fails      bool
	}{
		{plain + " --concurrency-ramp-duration 1,500ms", "phases.profiling.concurrency_ramp.duration: [1.0, 0.5]", false},
		{plain + " --concurrency-ramp-duration 3", "duration: 3.0", false},
		{plain + " --concurrency-ramp-duration 1,0", "--concurrency-ramp-duration: \"0\" must be > 0", true},
		{"profile --help concurrency-ramp-duration", "--concurrency-ramp-duration TIME[,TIME…]", false},
	} {
		cmd := exec.Command(program, strings.Fields(c.line)...)
		cmd.Dir = t.TempDir()
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); (err != nil) != c.fails || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.line, err, c.want, out.String())
		}
	}
}
