//go:build linux && !nocluster

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// cells returns the machines of each run of a sweep, by its directory.
func (p *process) cells() map[string][]machine {
	p.t.Helper()
	all := map[string][]machine{}
	paths, err := filepath.Glob(filepath.Join(p.dir, "*", "machines.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		var doc struct{ Machines []machine }
		if err == nil {
			err = json.Unmarshal(text, &doc)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(path))] = doc.Machines
	}
	return all
}

// replaced fails unless the first of two runs lost a machine and the second one had all of its machines, with the given names.
func (p *process) replaced(says string, names ...string) {
	p.t.Helper()
	if status := p.wait(); status != 0 {
		p.t.Fatalf("status %d\n%s", status, p.stderr.String())
	}
	cells := p.cells()
	first, second := cells["concurrency_4"], cells["concurrency_6"]
	if len(first) != 2 || first[0].State == first[1].State || len(second) != 2 {
		p.t.Fatalf("%+v\n%s", cells, p.stderr.String())
	}
	slices.SortFunc(second, func(a, b machine) int { return strings.Compare(a.Name, b.Name) }) // by name: who joins first is first otherwise
	sent := 0
	for i, m := range second {
		if sent += m.Delivered; m.Name != names[i] || m.State != "complete" || m.Delivered == 0 {
			p.t.Errorf("%+v, want %s", m, names[i])
		}
	}
	if text := p.stderr.String(); sent != 200 || !strings.Contains(text, says) {
		p.t.Errorf("%d requests; the user is not told %q:\n%s", sent, says, text)
	}
}

// sweep are the flags of two runs.
func (a *arrivals) sweep(more ...string) []string {
	return a.load(append([]string{"--concurrency", "4,6", "--request-count", "200"}, more...)...)
}

// TestProcessStartsAgain: a process that dies is replaced in the next run of a series.
func TestProcessStartsAgain(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, 20*time.Millisecond)
	p := program(t, server.sweep("--machines", "local:2")...).start()
	p.reaches(server, 40)
	if err := syscall.Kill(workers(t, p.cmd.Process.Pid)["w1"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.replaced("machine w1 was lost; another process takes its place", "w2", "w3")
}

// TestSpareMachine: a spare machine waits, and takes the place of one that dies.
func TestSpareMachine(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, 20*time.Millisecond)
	p := program(t, server.sweep("--machines", "2", "--machines-listen", "127.0.0.1:0")...).start()
	p.says("--token-file")
	join, file := p.joinLine()
	machines := map[string]*process{}
	for _, name := range []string{"a", "b"} {
		machines[name] = worker(t, "--join", join, "--name", name, "--token-file", file).start()
	}
	p.says("(2 of 2)")
	machines["c"] = worker(t, "--join", join, "--name", "c", "--token-file", file, "--spare").start()
	p.says("machine c waits as a spare")
	p.reaches(server, 20)
	machines["b"].signal(syscall.SIGKILL)
	p.replaced("machine c takes the place of b, which was lost", "a", "c")
	for _, name := range []string{"a", "c"} {
		if status := machines[name].wait(); status != 0 {
			t.Errorf("%s ended with status %d\n%s", name, status, machines[name].stderr.String())
		}
	}
}

// TestMachineComesBack: a machine that was out of sight for too long takes part in the next run.
func TestMachineComesBack(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, 100*time.Millisecond)
	p := program(t, server.sweep("--machines", "local:2", "--machines-timeout", "2s")...).start()
	p.reaches(server, 20)
	pid := workers(t, p.cmd.Process.Pid)["w2"]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.says("machine w2 was lost")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.replaced("machine w2 is back and takes part in the next run", "w1", "w2")
}
