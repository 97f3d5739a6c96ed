package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestChildEndsWithParent: the simulated server does not outlive the program, even if that is killed.
func TestChildEndsWithParent(t *testing.T) {
	t.Parallel()
	truth := filepath.Join(t.TempDir(), "truth.jsonl")
	p := program(t, "--url", "mock://?"+url.Values{"ttft": {"1ms"}, "itl": {"0"}, "tokens": {"2"}, "truth-log": {truth}}.Encode(),
		"--concurrency", "1", "--benchmark-duration", "3600", "--isl", "8", "--num-dataset-entries", "4").start()
	defer p.cmd.Process.Kill()
	until(t, "a record", func() bool { return len(p.grown()) > 0 })
	children := childrenOf(t, p.cmd.Process.Pid)
	if len(children) != 1 {
		t.Fatalf("%d children, want the simulated server", len(children))
	}
	p.cmd.Process.Kill()
	p.cmd.Wait()
	until(t, "the end of the child", func() bool { return !lives(children[0]) })
	path := filepath.Join(p.dir, "profile_export.jsonl")
	text := p.grown()
	whole := text[:bytes.LastIndexByte(text, '\n')+1] // SIGKILL may end a write between two pages
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if len(p.records()) == 0 {
		t.Error("no whole record")
	}
}

// childrenOf lists the processes that a process started.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if _, ppid := processState(pid); ppid == parent {
			list = append(list, pid)
		}
	}
	return list
}

// lives tells whether a process runs; one that nobody has waited for yet is dead.
func lives(pid int) bool {
	state, _ := processState(pid)
	return state != "" && state != "Z" && state != "X"
}

// processState is the state letter and the parent of a process; "" = there is none.
func processState(pid int) (state string, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}
