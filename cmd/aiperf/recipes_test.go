//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/testhome"
)

// onPath makes a folder in which `aiperf` is this test binary as the program.
func onPath(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asProgram, exe)
	if err := os.WriteFile(filepath.Join(dir, "aiperf"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shell runs a script with aiperf on the path and returns its output and its exit status.
func shell(t *testing.T, interpreter, dir, script string, env ...string) (out string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), interpreter, "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// pathWith is the variable PATH with a folder before the others.
func pathWith(dir string) string { return "PATH=" + dir + ":" + os.Getenv("PATH") }

// TestTutorials: the commands of each tutorial and guide work one after the other in an empty folder, as a reader types them.
func TestTutorials(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	tried, bin := 0, onPath(t)
	for _, page := range pages {
		if kind := filepath.Base(filepath.Dir(page)); kind != "tutorials" && kind != "guides" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		script := "set -eu\n"
		for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
			script += block[1]
		}
		if tried++; script == "set -eu\n" {
			t.Errorf("%s has no commands", page)
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			if out, status := shell(t, "sh", t.TempDir(), script, pathWith(bin)); status != 0 {
				t.Errorf("exit status %d\n%s", status, out)
			}
		})
	}
	if tried < 8 {
		t.Errorf("%d pages", tried)
	}
}

// TestExamplesFolder: every example runs without a network, and its output has the lines that it promises.
func TestExamplesFolder(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	scripts, err := filepath.Glob("../../examples/*/run")
	if err != nil || len(scripts) < 11 {
		t.Fatal(scripts, err)
	}
	bin := onPath(t)
	for _, script := range scripts {
		full, err := filepath.Abs(script)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(filepath.Dir(full)), func(t *testing.T) {
			t.Parallel()
			expected, err := os.ReadFile(filepath.Join(filepath.Dir(full), "expected.txt"))
			if err != nil {
				t.Fatal(err)
			}
			out, status := shell(t, "sh", t.TempDir(), "sh '"+full+"' \"$PWD\"", pathWith(bin), "PORT=0")
			if status != 0 {
				t.Fatalf("exit status %d\n%s", status, out)
			}
			for line := range strings.Lines(string(expected)) {
				if !strings.Contains(out, strings.TrimSuffix(line, "\n")) {
					t.Errorf("no line with %q in:\n%s", line, out)
				}
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(full), "artifacts*")); err != nil || len(left) > 0 {
				t.Errorf("the example wrote into its own folder: %v, %v", left, err)
			}
		})
	}
}

// TestCompareInCI: the example decides about a second run, and fails only if the server became worse.
func TestCompareInCI(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	script, err := filepath.Abs("../../examples/compare-in-ci/run")
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), onPath(t)
	for i, url := range []string{quick, "mock://?ttft=60ms&itl=1ms&tokens=8"} {
		out, status := shell(t, "sh", dir, "sh '"+script+"' \"$PWD\"", pathWith(bin), "URL="+url)
		if i == 0 && status != 0 || status != 0 && status != 3 || status == 3 && !strings.Contains(out, "worse") {
			t.Errorf("run %d: exit status %d\n%s", i, status, out)
		}
	}
	for _, name := range []string{"compare.xml", "compare.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// exported finds the names of metrics in a query of Prometheus.
var exported = regexp.MustCompile(`\baiperf_\w+`)

// TestGrafanaDashboard: every query of the dashboard names metrics that a run exports, and the variable is a label of theirs.
func TestGrafanaDashboard(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	text, err := os.ReadFile("../../examples/telemetry/grafana/aiperf.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	page := scrapedPage(t)
	queries := []string{dashboard.Templating.List[0].Query}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	if len(queries) < 10 {
		t.Errorf("%d queries", len(queries))
	}
	for _, q := range queries {
		names := exported.FindAllString(q, -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric of aiperf", q)
		}
		for _, name := range names {
			if !strings.Contains(page, "\n"+name+"{benchmark_id=") {
				t.Errorf("%s: a run does not export %s", q, name)
			}
		}
	}
}

// scrapedPage returns what Prometheus would read of a run in progress, after its first requests.
func scrapedPage(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(onPath(t), "aiperf"), "profile", "--url", quick, "--model", "m", "--tokenizer", "builtin", "--streaming", "--concurrency", "2",
		"--benchmark-duration", "10m", "--metrics-listen", "127.0.0.1:0", "--ui", "none", "--artifact-dir", t.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	errors, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url := ""
	for lines := bufio.NewScanner(errors); url == "" && lines.Scan(); {
		if _, address, ok := strings.Cut(lines.Text(), "metrics of this run: "); ok {
			url = address
		}
	}
	go func() { _, _ = io.Copy(io.Discard, errors) }()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\naiperf_inter_token_latency_ms{") { // a delayed client finds some answers in one read, without gaps
			return string(text)
		}
	}
	t.Fatal("no inter-token latency was exported within a minute")
	return ""
}

// pageLink is a link of a page, and mark a part of a page.
var pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks: every link between pages leads to a file, and every mark to a heading of it.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 30 {
		t.Fatal(pages)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pageLink.FindAllStringSubmatch(anyFence.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, mark, _ := strings.Cut(m[1], "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			target, err := os.ReadFile(to)
			if info, statErr := os.Stat(to); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil || mark != "" && !hasHeading(string(target), mark) {
				t.Errorf("%s: %s leads nowhere", page, m[1])
			}
		}
	}
}

// notInMark is what the mark of a heading omits.
var notInMark = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// hasHeading reports whether a page has a heading with a mark, as hosts of repositories form it.
func hasHeading(text, mark string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		head := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		if strings.ReplaceAll(notInMark.ReplaceAllString(head, ""), " ", "-") == mark {
			return true
		}
	}
	return false
}

// TestGitHubAction: the steps of the action install, run, judge and report as its page says, with what GitHub puts into the environment.
func TestGitHubAction(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	var action struct {
		Runs struct {
			Steps []struct {
				Name, Run, Uses string
				Env             map[string]string
			}
		}
	}
	text, err := os.ReadFile("../../packaging/github/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for _, s := range action.Runs.Steps {
		scripts[s.Name] = s.Run
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: an expression inside a script could carry commands", s.Name)
		}
		if s.Uses != "" && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(s.Uses) {
			t.Errorf("%s is not pinned by a commit", s.Uses)
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("this test needs bash: ", err)
	}
	for _, tt := range []struct {
		objectives, url string
		status          int
	}{{"ttft:p99<10s\nerror_rate<1%", quick, 0}, {"ttft:p99<1us", quick, 3}, {"", "http://127.0.0.1:1", 1}} {
		dir := t.TempDir()
		env := []string{
			pathWith(onPath(t)), "VERSION=", "RELEASES=", "HERE=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_PATH=" + filepath.Join(dir, "path"), "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
			"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary.md"), "URL=" + tt.url, "DIRECTORY=results $(touch injected)", "OBJECTIVES=" + tt.objectives,
			"ARGUMENTS=--model\nm\n--tokenizer\nbuiltin\n--streaming\n--request-count\n4\n--concurrency\n2\n--allow-invalid\n--extra-inputs\nx:$(touch injected)\n",
		}
		if tt.objectives == "" {
			env[len(env)-1] = "ARGUMENTS=--model\nm\n--tokenizer\nbuiltin\n--request-count\n1\n"
		}
		if out, status := shell(t, bash, dir, scripts["Install aiperf"], env...); status != 0 || !strings.HasPrefix(out, "aiperf ") {
			t.Errorf("install: %d, %s", status, out)
		}
		if out, status := shell(t, bash, dir, scripts["Run the benchmark"], env...); status != 0 {
			t.Errorf("run: %d, %s", status, out)
		}
		output, err := os.ReadFile(filepath.Join(dir, "output"))
		if err != nil || !strings.Contains(string(output), fmt.Sprintf("status=%d\n", tt.status)) || tt.status != 1 && strings.Contains(string(output), "verdict=\n") {
			t.Errorf("%v, %s", err, output)
		}
		if _, err := os.Stat(filepath.Join(dir, "injected")); err == nil {
			t.Error("an input was read as a command")
		}
		if out, status := shell(t, bash, dir, scripts["Judge"], append(env, fmt.Sprintf("STATUS=%d", tt.status))...); status != tt.status {
			t.Errorf("judge: %d, want %d: %s", status, tt.status, out)
		}
		if tt.status == 1 {
			continue
		}
		for _, name := range []string{"summary.md", "results $(touch injected)/gates.xml", "results $(touch injected)/report.html"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("no %s: %v", name, err)
			}
		}
	}
}

// TestGitLabTemplate: the script of the job runs, and its status is that of the gates.
func TestGitLabTemplate(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	var file map[string]struct {
		Script    []string
		Variables map[string]string
	}
	text, err := os.ReadFile("../../packaging/gitlab/aiperf.gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	job := file[".aiperf"]
	bin := onPath(t)
	for objective, want := range map[string]int{"ttft:p99<10s error_rate<1%": 0, "ttft:p99<1us": 3} {
		dir := t.TempDir()
		env := []string{pathWith(bin)}
		for name, value := range job.Variables {
			env = append(env, name+"="+value)
		}
		env = append(env, "AIPERF_URL="+quick, "AIPERF_OBJECTIVES="+objective, "AIPERF_ARGUMENTS=--model m --tokenizer builtin --streaming --request-count 4 --concurrency 2 --allow-invalid")
		if out, status := shell(t, "sh", dir, strings.Join(job.Script, "\n"), env...); status != want {
			t.Errorf("%s: %d, want %d: %s", objective, status, want, out)
		}
		for _, name := range []string{"gates.xml", "report.html"} {
			if _, err := os.Stat(filepath.Join(dir, "aiperf-results", name)); err != nil {
				t.Error(err)
			}
		}
	}
}
