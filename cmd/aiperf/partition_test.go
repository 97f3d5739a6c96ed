//go:build linux && !nocluster

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/base/testlink"
)

// joined is a run on two machines, of which the second reaches the controller by a link that the test can stop. Both reach the server at all times.
type joined struct {
	*process
	server *arrivals
	link   *testlink.Link
	near   *process // machine that reaches the controller at all times
	far    *process // machine behind the link
}

// joinedBy starts a run on two machines that join.
func joinedBy(t *testing.T, load ...string) *joined {
	t.Helper()
	j := &joined{server: newArrivals(t, time.Millisecond)}
	j.process = program(t, j.server.load(append(load, "--machines", "2", "--machines-listen", "127.0.0.1:0")...)...).start()
	j.says("--token-file")
	words := strings.Fields(j.stderr.String())
	after := func(flag string) string { return words[slices.Index(words, flag)+1] }
	token, err := os.ReadFile(after("--token-file"))
	if err != nil {
		t.Fatal(err)
	}
	join := after("--join")
	_, address, _ := strings.Cut(join, "://")
	address, _, _ = strings.Cut(address, "/")
	if _, _, err := net.SplitHostPort(address); err != nil {
		t.Fatalf("%s: %v", join, err)
	}
	j.link = testlink.New(t, address)
	start := func(name, join string) *process {
		w := worker(t, "--join", join, "--name", name)
		w.cmd.Env = append(w.cmd.Env, "AIPERF_TOKEN="+strings.TrimSpace(string(token)))
		return w.start()
	}
	j.near = start("near", join)
	j.says("machine near joined (1 of 2)")
	j.far = start("far", strings.Replace(join, address, fmt.Sprintf("127.0.0.1:%d", j.link.Port()), 1))
	return j
}

// of returns what machines.json says about the machine behind the link.
func (j *joined) of(name string) machine {
	j.t.Helper()
	list := j.machines()
	k := slices.IndexFunc(list, func(m machine) bool { return m.Name == name })
	if k < 0 {
		j.t.Fatalf("no machine %s: %+v\n%s", name, list, j.stderr.String())
	}
	return list[k]
}

// TestShortPartition: a machine that cannot reach its controller for less than the timeout continues with its schedule, and all of its results arrive.
func TestShortPartition(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	j := joinedBy(t, "--request-rate", "60", "--request-count", "480", "--machines-timeout", "20")
	j.reaches(j.server, 60)
	j.link.Stop(true)
	time.Sleep(3 * time.Second)
	j.link.Stop(false)
	if status := j.wait(); status != 0 {
		t.Fatalf("status %d\n%s", status, j.stderr.String())
	}
	far := j.of("far")
	if far.State != "complete" || far.Unseen < 1.5 || far.Unseen > 20 || far.Sent != 240 || far.Delivered != 240 {
		t.Errorf("%+v", far)
	}
	if j.server.count() != 480 || len(j.records()) != 480 {
		t.Errorf("%d requests came, %d records", j.server.count(), len(j.records()))
	}
	if status := j.far.wait(); status != 0 {
		t.Errorf("the machine ended with status %d\n%s", status, j.far.stderr.String())
	}
}

// TestLongPartition: a machine that cannot reach its controller for longer than the timeout stops by itself at the timeout. When it can again, its
// results count, and the verdict says since when the load was lower.
func TestLongPartition(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const timeout = 2 * time.Second
	j := joinedBy(t, "--request-rate", "60", "--benchmark-duration", "9", "--machines-timeout", "2")
	j.reaches(j.server, 60)
	j.link.Stop(true)
	time.Sleep(timeout + time.Second)
	both := j.server.count()
	time.Sleep(time.Second)
	if n := j.server.count() - both; n < 15 || n > 45 { // 30/s are left
		t.Errorf("%d requests came in a second after the machine must have stopped", n)
	}
	j.link.Stop(false)
	if status := j.wait(); status != 0 {
		t.Fatalf("status %d\n%s", status, j.stderr.String())
	}
	near, far := j.of("near"), j.of("far")
	if far.State != "stopped" || far.Sent != far.Delivered || far.Sent == 0 || far.LostAt <= 0 || near.State != "complete" {
		t.Errorf("%+v, %+v", near, far)
	}
	if n := near.Sent + far.Sent; n != j.server.count() || n != len(j.records()) {
		t.Errorf("%d sent, %d came, %d records", n, j.server.count(), len(j.records()))
	}
	if v := j.summary().verdict(t); v == "valid" || !strings.Contains(j.stdout.String(), "machine far was lost") {
		t.Errorf("the run is %s\n%s", v, j.stdout.String())
	}
	if status := j.far.wait(); status != 0 { // it is let go like the others
		t.Errorf("the machine ended with status %d\n%s", status, j.far.stderr.String())
	}
}

// TestPartitionForEver: the results that a machine has delivered count, the report says what is missing, and the machine ends by itself.
func TestPartitionForEver(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	j := joinedBy(t, "--request-rate", "60", "--benchmark-duration", "6", "--machines-timeout", "2")
	j.reaches(j.server, 90)
	j.link.Stop(true)
	if status := j.wait(); status != 0 {
		t.Fatalf("status %d\n%s", status, j.stderr.String())
	}
	near, far := j.of("near"), j.of("far")
	if far.State != "lost" || far.Delivered == 0 || near.State != "complete" || len(j.records()) != near.Delivered+far.Delivered {
		t.Errorf("%+v, %+v, %d records", near, far, len(j.records()))
	}
	if v := j.summary().verdict(t); v == "valid" {
		t.Errorf("the run is %s", v)
	}
	if status := j.far.wait(); status != 4 {
		t.Errorf("the machine ended with status %d\n%s", status, j.far.stderr.String())
	}
	kept := j.far.undelivered()
	if n := len(kept); n == 0 || len(slices.Compact(slices.Sorted(slices.Values(kept)))) != n {
		t.Errorf("the machine kept %d results, some of them twice or none", n)
	}
	all := map[string]bool{} // the link may have stopped between a piece of results and its confirmation: then they are in both places
	for _, id := range kept {
		all[id] = true
	}
	for _, line := range j.records() {
		all[line.Metadata.RequestID] = true
	}
	if len(all) != j.server.count() {
		t.Errorf("%d requests came; %d different results are in the report or beside it", j.server.count(), len(all))
	}
}

// undelivered returns the request ids of the results that a machine kept for itself.
func (p *process) undelivered() (ids []string) {
	p.t.Helper()
	_, rest, ok := strings.Cut(p.stderr.String(), "They are in ")
	dir, _, end := strings.Cut(rest, ";")
	if !ok || !end {
		p.t.Fatalf("the machine does not say where its results are:\n%s", p.stderr.String())
	}
	for _, l := range readLines[line](p.t, filepath.Join(dir, "profile_export.jsonl")) {
		ids = append(ids, l.Metadata.RequestID)
	}
	return ids
}
