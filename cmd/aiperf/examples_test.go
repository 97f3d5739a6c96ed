//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/testhome"
)

var (
	// fenced are the blocks of commands of a page; anyFence is every block.
	fenced   = regexp.MustCompile("(?s)```sh\n(.*?)```")
	anyFence = regexp.MustCompile("(?s)```.*?```")
	// commandLine is a line of a block that is a command.
	commandLine = regexp.MustCompile(`(?m)^(\$ )?(\./)?aiperf [a-z]`)
	// spoken are commands in the text.
	spoken = regexp.MustCompile("`((?:\\./)?aiperf\\s[^`]+)`")
	// shellWord is a word of a command line, quoted or not.
	shellWord = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// quick is a simulated server, and the arguments that replace the omitted part (…) of a line.
var (
	quick = "mock://?ttft=1ms&itl=100us&tokens=4"
	rest  = []string{"--model", "m", "--tokenizer", "builtin", "--streaming"}
)

// example is one command of a page.
type example struct {
	page, line string
	words      []string // behind the name of the program
	into       string   // file that gets its output; "" = none
}

// examplesOf are the commands of a page in their order: those of its blocks, then those of its text.
func examplesOf(t *testing.T, page string) (list []example) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text, lines := string(b), []string(nil)
	for _, block := range anyFence.FindAllString(text, -1) {
		if !strings.HasPrefix(block, "```sh\n") && commandLine.MatchString(block) {
			t.Errorf("%s: a block with commands is no sh block, so that nobody tries it: %s", page, block)
		}
	}
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.ReplaceAll(block[1], "\\\n", " "), "\n")...)
	}
	for _, one := range spoken.FindAllStringSubmatch(anyFence.ReplaceAllString(text, ""), -1) {
		lines = append(lines, strings.Join(strings.Fields(one[1]), " "))
	}
	for _, line := range lines {
		said, _, _ := strings.Cut(line, " #")
		for one := range strings.SplitSeq(said, " && ") {
			one, into, _ := strings.Cut(one, " > ")
			one, _, _ = strings.Cut(one, " | ") // the program behind the pipe is not here
			words := shellWord.FindAllString(strings.Replace(one, "go run ./cmd/aiperf", "aiperf", 1), -1)
			if len(words) < 2 || filepath.Base(words[0]) != "aiperf" {
				continue
			}
			for i := range words {
				words[i] = strings.Trim(words[i], `'"`)
			}
			list = append(list, example{page, line, words[1:], strings.TrimSpace(into)})
		}
	}
	return list
}

// completed are the words of an example with what its reader has to put in. What would take long, or ask a server that is not here, is a dry run.
func (e *example) completed() (args []string) {
	has := func(word string) bool { return slices.Contains(e.words, word) }
	for _, w := range e.words {
		switch w {
		case "…":
			if e.words[0] == "kube" { // its examples are complete
				continue
			}
			args = append(args, rest...)
			if e.words[0] != "ab" {
				args = append(args, "--url", quick)
			}
		case "FILE":
			args = append(args, "file.yaml")
		case "NAME":
			args = append(args, "aimo_numina_cot")
		case "DIR":
			args = append(args, "copied")
		default:
			args = append(args, w)
		}
	}
	switch e.words[0] {
	case "profile", "find-capacity", "ab":
		if !has("…") && !has("--model") && !has("--help") && !has("--config") { // nobody can be asked for it here
			args = append(args, rest[:4]...)
		}
		if !has("--dry-run") && !has("--help") && !has("--config") {
			args = append(args, "--dry-run")
		}
	case "mock-server":
		args = append(args, "--port", "0")
	case "doctor":
		if i := slices.Index(args, "--sample"); i >= 0 {
			args = slices.Delete(args, i, i+2)
		}
		args = append(args, "--sample", "0.1")
	case "report", "plot", "tokenizer", "compare", "explain": // a page that only names the command
		if !slices.ContainsFunc(e.words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }) {
			args = append(args, "--help")
		} else if e.words[0] == "compare" { // small runs of a busy machine are shown, too
			args = append(args, "--allow-invalid")
		}
	}
	return args
}

// folder is where examples are carried out.
type folder struct {
	dir string
	env []string
}

// carry carries a command out and returns its two outputs.
func (f *folder) carry(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := command(t, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = f.dir, &out, &errs, append(cmd.Env, f.env...)
	if args[0] == "tokenizer" {
		cmd.Env = append(cmd.Env, "HF_HUB_OFFLINE=1") // it lies in the cache
	}
	if args[0] != "mock-server" {
		err = cmd.Run()
		return out.String(), errs.String(), err
	}
	cmd.Stdout = nil // a server runs until it is stopped
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(pipe).ReadString('\n')
	if !strings.Contains(line, "listening on http://127.0.0.1:") {
		t.Errorf("%v says %q", args, line)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait() // before what it said is read
	return line, errs.String(), err
}

// supplied is a folder with what the pages speak of: files of prompts, a configuration, a finished run, a tokenizer in the cache of the hub and a
// hub for data sets.
func supplied(t *testing.T) *folder {
	t.Helper()
	dir := t.TempDir()
	packed, err := os.ReadFile("../../internal/text/tokenizer/testdata/qwen2_5.json.zst")
	if err != nil {
		t.Fatal(err)
	}
	unpacker, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacker.Close()
	vocabulary, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	const model, commit = "cache/hub/models--Qwen--Qwen2.5-7B-Instruct", "0123456789abcdef0123456789abcdef01234567"
	for name, text := range map[string]string{
		"prompts.jsonl": `{"text":"one two"}` + "\n", "trace.jsonl": `{"timestamp":0,"input_length":20,"output_length":4}` + "\n",
		"BurstGPT.csv":       "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n",
		model + "/refs/main": commit, model + "/snapshots/" + commit + "/tokenizer.json": string(vocabulary),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := bytes.Repeat([]byte("rows"), 1000)
	hub := newStandInHub(t, bytes.NewReader(set), int64(len(set)), fmt.Sprintf("%x", sha256.Sum256(set)))
	f := &folder{dir, []string{"HF_ENDPOINT=" + hub.URL, "HF_HOME=" + filepath.Join(dir, "cache"), "HF_TOKEN=", "HF_HUB_OFFLINE=", "KUBECONFIG="}}
	for _, args := range [][]string{
		append([]string{"profile", "--url", quick, "--request-count", "300", "--concurrency", "4", "--export-level", "raw", "--artifact-dir", "artifacts/RUN", "--ui", "none"}, rest...),
		{"config", "init", "--template", "minimal", "--model", "m", "--url", quick, "--output", "file.yaml"},
	} {
		if _, errs, err := f.carry(t, args...); err != nil {
			t.Fatalf("%v: %v: %s", args, err, errs)
		}
	}
	for _, name := range []string{"BEFORE", "AFTER"} {
		if err := os.CopyFS(filepath.Join(dir, "artifacts", name), os.DirFS(filepath.Join(dir, "artifacts", "RUN"))); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestExamples: every command of the README and the pages works once the reader has filled in the omitted parts.
func TestExamples(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	howto, err := filepath.Glob("../../docs/howto/*.md")
	if err != nil || len(howto) == 0 {
		t.Fatal(err, howto)
	}
	f, tried := supplied(t), map[string]int{}
	for _, page := range append(append(pages, howto...), "../../README.md", "../../CONTRIBUTING.md", "../../ARCHITECTURE.md") {
		for _, e := range examplesOf(t, page) {
			tried[e.words[0]]++
			args := e.completed()
			out, errs, err := f.carry(t, args...)
			if e.words[0] == "doctor" && strings.Contains(out, "kernel") { // its status is that of this machine
				err = nil
			}
			if e.words[0] == "kube" && strings.Contains(errs, "no cluster is known") { // everything before was right
				err = nil
			}
			if err != nil || out+errs == "" && e.words[0] != "plot" {
				t.Errorf("%s: %s\n%v: %v\n%s%s", e.page, e.line, args, err, out, errs)
			}
			if e.into == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(f.dir, e.into), []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"profile", "config", "report", "plot", "watch", "mock-server", "tokenizer", "dataset", "find-capacity", "ab", "compare", "explain"} {
		if tried[name] == 0 {
			t.Errorf("no example of %s was found", name)
		}
	}
}
