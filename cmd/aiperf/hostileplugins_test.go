//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// hostileProgram misbehaves in the way of its first argument. It starts a child, ignores SIGTERM, and both hold the pipe of its second
// argument open.
const hostileProgram = `
import os, signal, subprocess, sys, time
mode, alive = sys.argv[1:]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
alive = open(alive, "w")
child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=alive, stderr=subprocess.DEVNULL)
alive.write("started")
alive.flush()
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
sys.stdin.readline()
if mode == "stillborn":
    os._exit(3)
if mode == "noise":
    say("Welcome to my plug-in!\n")
    time.sleep(1000)
say('{"type":"hello","protocol":1,"methods":["format","parse","load","grade","export","start","collect","next","intervals"]}\n')
sys.stdin.readline()
if mode == "flood":
    while True:
        say("x" * 65536)
say({"dies": "", "half": '{"id":1,"res', "wrong": '{"id":99,"result":{}}\n', "lies": '{"id":1,"result":{"surprise":7}}\n', "quiet": ""}[mode])
if mode in ("dies", "half"):
    os._exit(3)
time.sleep(1000)
`

// honestBenchmark gives three problems.
const honestBenchmark = `
import sys
sys.stdin.readline()
print('{"type":"hello","protocol":1,"methods":["load"]}', flush=True)
sys.stdin.readline()
print('{"id":1,"part":{"problems":[' + ",".join(['{"prompt":"2 + 2?","ground_truth":"4","task":"sums"}'] * 3) + ']}}', flush=True)
print('{"id":1,"result":{}}', flush=True)
sys.stdin.readline()
`

// hostileUses are the commands that use a plug-in of each category. works: the command continues without the plug-in, with a warning. hello: but not
// if the plug-in fails before it has said hello.
var hostileUses = map[string]struct {
	args         []string
	works, hello bool
}{
	"endpoint":                {args: []string{"--endpoint-type", "evil"}},
	"custom_dataset_loader":   {args: []string{"--input-file", "ROWS", "--custom-dataset-type", "evil"}},
	"accuracy_benchmark":      {args: []string{"--accuracy-benchmark", "evil"}},
	"accuracy_grader":         {args: []string{"--accuracy-benchmark", "honest", "--accuracy-grader", "evil"}, works: true, hello: true},
	"data_exporter":           {works: true},
	"gpu_telemetry_collector": {args: []string{"--gpu-telemetry", "evil"}},
	"search_planner": {args: []string{"--search-planner", "evil", "--search-space", "phases.profiling.concurrency:1,4:int", "--search-metric", "request_latency",
		"--search-direction", "minimize", "--search-max-iterations", "6"}},
	"arrival_pattern": {args: []string{"--arrival-pattern", "evil", "--request-rate", "100"}},
}

// TestHostilePlugins: a plug-in of any category that floods, lies, dies or says nothing costs one clear error with its name. The command ends, and so do
// the plug-in and its child.
func TestHostilePlugins(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for category, use := range hostileUses {
		for _, mode := range []string{"stillborn", "noise", "flood", "dies", "half", "wrong", "lies", "quiet"} {
			t.Run(category+"/"+mode, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				pipe := filepath.Join(dir, "alive")
				manifest := category + ":\n  evil:\n    exec: [python3, evil.py, " + mode + ", " + pipe + "]\n    timeout: 500ms\n"
				manifest += "    metadata: {endpoint_path: /v1/chat/completions, supports_streaming: true, produces_tokens: true, tokenizes_input: true, metrics_title: null, default_grader: exact_match}\n"
				if category == "accuracy_grader" {
					manifest += "accuracy_benchmark:\n  honest:\n    exec: [python3, honest.py]\n    metadata: {default_grader: exact_match}\n"
				}
				files := map[string]string{"plugins.yaml": manifest, "evil.py": hostileProgram, "honest.py": honestBenchmark, "rows.txt": "x\n"}
				for name, text := range files {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
				alive, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer alive.Close()
				args := []string{"--url", "mock://?ttft=0&itl=0", "--model", "m", "--tokenizer", "builtin", "--request-count", "3"}
				for _, a := range use.args {
					args = append(args, strings.ReplaceAll(a, "ROWS", filepath.Join(dir, "rows.txt")))
				}
				p := program(t, args...).plugins(dir).start()
				status := p.wait()
				said := p.stderr.String() + p.stdout.String()
				silent := category == "data_exporter" && mode == "lies" // a result without files is right
				works := use.works && (!use.hello || mode != "stillborn" && mode != "noise")
				if (status == 0) != works || !silent && !strings.Contains(said, "plug-in "+category+":evil: ") {
					t.Errorf("status %d: %s", status, said)
				}
				if strings.Contains(said, "panic") || strings.Contains(said, strings.Repeat("x", 1000)) {
					t.Errorf("said %.2000s", said)
				}
				if works && p.summary().avg(t, "request_count") != 3 {
					t.Error("requests are missing")
				}
				if category == "accuracy_grader" && works {
					scores, err := os.ReadFile(filepath.Join(p.dir, "accuracy_results.csv"))
					if err != nil || string(scores) != "task,correct,total,unparsed,accuracy\nOVERALL,0,0,0,\n" {
						t.Errorf("answers without a grade have a score: %v %s", err, scores)
					}
				}
				if err := alive.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
					t.Fatal(err)
				}
				if text, err := io.ReadAll(alive); err != nil || !bytes.HasPrefix(text, []byte("started")) {
					t.Errorf("the program did not start, or it or its child lives on: %q %v %s", text, err, said)
				}
			})
		}
	}
}
