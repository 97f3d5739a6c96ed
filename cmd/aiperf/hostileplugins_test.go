//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"aiperf/internal/base/testhome"
)

// hostileProgram misbehaves in the way of its first argument. It starts a child, ignores SIGTERM, and writes the numbers of both processes to the file of
// its second argument.
const hostileProgram = `
import os, signal, subprocess, sys, time
mode, pids = sys.argv[1:]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
with open(pids, "a") as f:
    f.write("%d %d\n" % (os.getpid(), child.pid))
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
sys.stdin.readline()
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

// hostileUses are the commands that use a plug-in of each category. works: the command continues without the plug-in, with a warning.
var hostileUses = map[string]struct {
	args  []string
	works bool
}{
	"endpoint":                {args: []string{"--endpoint-type", "evil"}},
	"custom_dataset_loader":   {args: []string{"--input-file", "ROWS", "--custom-dataset-type", "evil"}},
	"accuracy_benchmark":      {args: []string{"--accuracy-benchmark", "evil"}},
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
	for category, use := range hostileUses {
		for _, mode := range []string{"noise", "flood", "dies", "half", "wrong", "lies", "quiet"} {
			t.Run(category+"/"+mode, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				pids := filepath.Join(dir, "pids")
				manifest := category + ":\n  evil:\n    exec: [python3, evil.py, " + mode + ", " + pids + "]\n    timeout: 500ms\n"
				manifest += "    metadata: {endpoint_path: /v1/chat/completions, supports_streaming: true, produces_tokens: true, tokenizes_input: true, metrics_title: null, default_grader: exact_match}\n"
				for name, text := range map[string]string{"plugins.yaml": manifest, "evil.py": hostileProgram, "rows.txt": "x\n"} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				args := []string{"--url", "mock://?ttft=0&itl=0", "--model", "m", "--tokenizer", "builtin", "--request-count", "3"}
				for _, a := range use.args {
					args = append(args, strings.ReplaceAll(a, "ROWS", filepath.Join(dir, "rows.txt")))
				}
				p := program(t, args...).plugins(dir).start()
				status := p.wait()
				said := p.stderr.String() + p.stdout.String()
				silent := category == "data_exporter" && mode == "lies" // a result without files is right
				if (status == 0) != use.works || !silent && !strings.Contains(said, "plug-in "+category+":evil: ") {
					t.Errorf("status %d: %s", status, said)
				}
				if strings.Contains(said, "panic") || strings.Contains(said, strings.Repeat("x", 1000)) {
					t.Errorf("said %.2000s", said)
				}
				if use.works && p.summary().avg(t, "request_count") != 3 {
					t.Error("requests are missing")
				}
				list, err := os.ReadFile(pids)
				if err != nil || len(bytes.Fields(list)) < 2 {
					t.Fatalf("the program did not start: %v %s", err, said)
				}
				for word := range strings.FieldsSeq(string(list)) {
					pid, err := strconv.Atoi(word)
					if err != nil {
						t.Fatal(err)
					}
					if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
						t.Errorf("process %d is alive", pid)
					}
				}
			})
		}
	}
}
