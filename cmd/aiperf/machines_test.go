//go:build linux && !nocluster

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// arrivals is a server that counts for itself: when requests came, and what they asked.
type arrivals struct {
	url   string
	wait  time.Duration // until the answer
	mu    sync.Mutex
	at    []time.Time
	asked []string
}

func newArrivals(t *testing.T, wait time.Duration) *arrivals {
	t.Helper()
	a := &arrivals{wait: wait}
	server := httptest.NewServer(withoutMetrics(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		a.mu.Lock()
		a.at, a.asked = append(a.at, at), append(a.asked, string(body))
		a.mu.Unlock()
		time.Sleep(a.wait)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"one two"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`)
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// bodies returns what was asked, sorted.
func (a *arrivals) bodies() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.Clone(a.asked)
	slices.Sort(list)
	return list
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at)
}

// last returns when the last request came.
func (a *arrivals) last() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.MaxFunc(a.at, time.Time.Compare)
}

// machine is an entry of machines.json.
type machine struct {
	Name      string
	State     string
	Problem   string
	LostAt    float64 `json:"lost_at_s"`
	Bound     float64 `json:"clock_bound_us"`
	Unseen    float64 `json:"out_of_sight_s"`
	Sent      int     `json:"requests_sent"`
	Delivered int     `json:"requests_delivered"`
}

func (p *process) machines() []machine {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "machines.json"))
	var doc struct{ Machines []machine }
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.stderr.String())
	}
	return doc.Machines
}

// workers returns the process ids of the workers that a controller started, by name.
func workers(t *testing.T, controller int) map[string]int {
	t.Helper()
	all := map[string]int{}
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(controller) {
			continue
		}
		words, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		list := strings.Split(strings.TrimRight(string(words), "\x00"), "\x00")
		if err != nil || len(list) < 6 || list[1] != "worker" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		all[list[slices.Index(list, "--name")+1]] = pid
	}
	return all
}

// reaches waits until a server has got more than a number of requests.
func (p *process) reaches(a *arrivals, n int) {
	p.t.Helper()
	if !within(30*time.Second, func() bool { return a.count() > n }) {
		p.t.Fatalf("%d requests came\n%s", a.count(), p.stderr.String())
	}
}

// worker is a worker that is not started yet.
func worker(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t}
	p.stderr.more = make(chan struct{}, 1)
	p.cmd = command(t, append([]string{"worker"}, args...)...)
	p.cmd.Stderr = &p.stderr
	return p
}

// load returns the flags of a run towards a server that counts.
func (a *arrivals) load(more ...string) []string {
	if !slices.Contains(more, "--input-file") {
		more = append(more, "--isl", "20")
	}
	return append([]string{"--url", a.url, "--model", "m", "--tokenizer", "builtin", "--random-seed", "11", "--ui", "none"}, more...)
}

// TestMachinesSendTheRunOfOneProcess: three processes send the bodies of one, each once, and the report counts them all, in every mode.
func TestMachinesSendTheRunOfOneProcess(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	var lines []byte
	for i := range 30 {
		lines = fmt.Appendf(lines, "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 4}\n", 40*i, 10+i)
	}
	if err := os.WriteFile(trace, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"concurrency":    {"--concurrency", "6", "--request-count", "40", "--warmup-request-count", "6"},
		"request rate":   {"--request-rate", "80", "--arrival-pattern", "poisson", "--request-count", "60"},
		"ramp":           {"--request-rate", "80", "--request-rate-ramp-duration", "1", "--arrival-pattern", "gamma", "--arrival-smoothness", "2", "--request-count", "50"},
		"fixed schedule": {"--input-file", trace, "--custom-dataset-type", "mooncake_trace", "--fixed-schedule"},
		"users":          {"--user-centric-rate", "30", "--num-users", "6", "--session-turns-mean", "3", "--session-turns-stddev", "0", "--num-dataset-entries", "12", "--request-count", "36"},
		"sessions":       {"--concurrency", "3", "--num-sessions", "9", "--session-turns-mean", "2", "--session-turns-stddev", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, several := newArrivals(t, 5*time.Millisecond), newArrivals(t, 5*time.Millisecond)
			alone := program(t, one.load(args...)...)
			if status := alone.run(); status != 0 {
				t.Fatalf("one process: status %d\n%s", status, alone.stderr.String())
			}
			p := program(t, several.load(append(args, "--machines", "local:3")...)...)
			if status := p.run(); status != 0 {
				t.Fatalf("status %d\n%s", status, p.stderr.String())
			}
			if want, got := one.bodies(), several.bodies(); !slices.Equal(want, got) {
				t.Errorf("%d requests, want the %d of one process", len(got), len(want))
			}
			if n := len(p.records()); n != len(alone.records()) {
				t.Errorf("%d records, want %d", n, len(alone.records()))
			}
			for _, tag := range []string{"request_count", "input_sequence_length", "output_sequence_length"} {
				if want, got := alone.summary().avg(t, tag), p.summary().avg(t, tag); want != got {
					t.Errorf("%s is %v, want %v", tag, got, want)
				}
			}
			sent := 0
			for i, m := range p.machines() {
				if sent += m.Sent; m.Name != fmt.Sprint("w", i+1) || m.State != "complete" || m.Sent != m.Delivered || m.Sent == 0 || m.Bound <= 0 || m.Bound > 1e4 {
					t.Errorf("%+v", m)
				}
				for _, file := range []string{"aiperf.log", "client_machine.jsonl"} {
					if info, err := os.Stat(filepath.Join(p.dir, "machines", m.Name, file)); err != nil || info.Size() == 0 {
						t.Errorf("%s of machine %s: %v", file, m.Name, err)
					}
				}
			}
			if sent != several.count() {
				t.Errorf("the machines say that they sent %d requests; %d came", sent, several.count())
			}
		})
	}
}

// TestOneMachine: a run is sent from one other machine as from this one: phases, hooks and figures are there.
func TestOneMachine(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, time.Millisecond)
	p := program(t, server.load("--concurrency", "2", "--request-count", "30", "--warmup-request-count", "4", "--machines", "local:1")...)
	if status := p.run(); status != 0 {
		t.Fatalf("status %d\n%s", status, p.stderr.String())
	}
	list := p.machines()
	if len(list) != 1 || list[0].State != "complete" || list[0].Sent != 34 || server.count() != 34 || p.summary().avg(t, "request_count") != 30 {
		t.Errorf("%+v, %d came", list, server.count())
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "logs", "aiperf.log"))
	for _, says := range []string{`msg="phase begins" phase=warmup`, `msg="phase begins" phase=profiling`, `msg="phase complete" phase=profiling sent=30`} {
		if err != nil || !strings.Contains(string(text), says) {
			t.Errorf("the log of the controller does not say %q: %v\n%s", says, err, text)
		}
	}
}

// TestMachineLost: a machine that is killed takes its part with it, and only that; the report says when and how much.
func TestMachineLost(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for loss, want := range map[string]int{"continue": 0, "stop": 3} {
		t.Run(loss, func(t *testing.T) {
			t.Parallel()
			server := newArrivals(t, time.Millisecond)
			p := program(t, server.load("--request-rate", "60", "--request-count", "300", "--machines", "local:3", "--machines-loss", loss)...).start()
			p.reaches(server, 60)
			if err := syscall.Kill(workers(t, p.cmd.Process.Pid)["w2"], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if status := p.wait(); status != want {
				t.Errorf("status %d, want %d\n%s", status, want, p.stderr.String())
			}
			list := p.machines()
			if m := list[1]; m.State != "lost" || m.LostAt <= 0 || !strings.Contains(m.Problem, "killed") || m.Delivered >= 100 {
				t.Errorf("%+v", m)
			}
			for _, m := range []machine{list[0], list[2]} {
				if m.State != "complete" || loss == "continue" && m.Delivered != 100 || loss == "stop" && m.Delivered >= 100 {
					t.Errorf("%s: %+v", loss, m)
				}
			}
			if n := len(p.records()); n != list[0].Delivered+list[1].Delivered+list[2].Delivered {
				t.Errorf("%d records of %+v", n, list)
			}
			if v := p.summary().verdict(t); v == "valid" {
				t.Errorf("the run is %s", v)
			}
			var rates struct {
				Asked float64 `json:"target_rate"`
				Left  float64 `json:"target_rate_of_remaining_machines"`
			}
			p.summary().read(t, "validity", &rates)
			if math.Abs(rates.Asked-60) > 1e-6 || math.Abs(rates.Left-40) > 2 { // the last requests of two machines are not at the same instant
				t.Errorf("%+v: 60 requests/s were asked for, and 40 of the remaining machines", rates)
			}
			if text := p.stdout.String(); !strings.Contains(text, "the part of 1 lost machine may be missing") {
				t.Errorf("the rate does not say what it leaves out:\n%s", text)
			}
			if text := p.stderr.String(); !strings.Contains(text, "machine w2 was lost") {
				t.Errorf("the user is not told:\n%s", text)
			}
		})
	}
}

// TestMachineOutOfSight: a machine that is stopped for less than the timeout comes back, and all of its results arrive.
func TestMachineOutOfSight(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, time.Millisecond)
	p := program(t, server.load("--request-rate", "60", "--benchmark-duration", "7", "--machines", "local:2", "--machines-timeout", "20")...).start()
	p.reaches(server, 30)
	pid := workers(t, p.cmd.Process.Pid)["w1"]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2500 * time.Millisecond)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if status := p.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, p.stderr.String())
	}
	list := p.machines()
	if m := list[0]; m.State != "complete" || m.Unseen < 1.5 || m.Unseen > 20 || m.Sent != m.Delivered {
		t.Errorf("%+v", m)
	}
	if sent := list[0].Sent + list[1].Sent; sent != server.count() || sent != len(p.records()) {
		t.Errorf("%d sent, %d came, %d records", sent, server.count(), len(p.records()))
	}
}

// TestMachineStopsByItself: a machine that is stopped for longer than the timeout sends nothing more. Its results still count when it comes back, and
// the verdict says that the load was lower.
func TestMachineStopsByItself(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, time.Millisecond)
	p := program(t, server.load("--request-rate", "60", "--benchmark-duration", "9", "--machines", "local:2", "--machines-timeout", "2")...).start()
	p.reaches(server, 60)
	pid := workers(t, p.cmd.Process.Pid)["w1"]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.says("machine w1 was lost: no sign of life")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if status := p.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, p.stderr.String())
	}
	list := p.machines()
	if m := list[0]; m.State != "stopped" || m.Sent != m.Delivered || m.Sent == 0 || m.LostAt <= 0 || m.LostAt > 9 {
		t.Errorf("%+v", m)
	}
	if m := list[1]; m.State != "complete" || m.Sent <= list[0].Sent {
		t.Errorf("%+v", m)
	}
	if sent := list[0].Sent + list[1].Sent; sent != server.count() || sent != len(p.records()) {
		t.Errorf("%d sent, %d came, %d records", sent, server.count(), len(p.records()))
	}
	if v := p.summary().verdict(t); v == "valid" || !strings.Contains(p.stdout.String(), "machine w1 was lost") {
		t.Errorf("the run is %s\n%s", v, p.stdout.String())
	}
}

// TestMachinesInterrupted: the first signal stops all machines, and everything that was sent is in the report.
func TestMachinesInterrupted(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, time.Millisecond)
	p := program(t, server.load("--request-rate", "60", "--benchmark-duration", "60", "--machines", "local:2")...).start()
	p.reaches(server, 60)
	p.signal(syscall.SIGINT)
	status := p.wait()
	other := newArrivals(t, time.Millisecond)
	alone := program(t, other.load("--request-rate", "60", "--benchmark-duration", "60")...).start()
	alone.reaches(other, 60)
	alone.signal(syscall.SIGINT)
	if want := alone.wait(); status != want {
		t.Errorf("status %d, want the %d of one process\n%s", status, want, p.stderr.String())
	}
	if n := len(p.records()); n != server.count() {
		t.Errorf("%d records of %d requests", n, server.count())
	}
	for _, m := range p.machines() {
		if m.State != "complete" {
			t.Errorf("%+v", m)
		}
	}
	if left := workers(t, p.cmd.Process.Pid); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestControllerKilled: without their controller the machines send nothing after the timeout, and end.
func TestControllerKilled(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const timeout = 2 * time.Second
	server := newArrivals(t, time.Millisecond)
	p := program(t, server.load("--request-rate", "60", "--benchmark-duration", "60", "--machines", "local:2", "--machines-timeout", "2")...).start()
	p.reaches(server, 60)
	pids := workers(t, p.cmd.Process.Pid)
	killed := time.Now()
	p.signal(syscall.SIGKILL)
	p.wait()
	if len(pids) != 2 {
		t.Fatalf("workers %v", pids)
	}
	until(t, "the end of the workers", func() bool {
		for _, pid := range pids {
			if syscall.Kill(pid, 0) == nil {
				return false
			}
		}
		return true
	})
	if after := server.last().Sub(killed); after > timeout+500*time.Millisecond {
		t.Errorf("a request came %v after the controller was killed", after)
	}
}

// joinLine returns the address and the file of the token that a controller has printed.
func (p *process) joinLine() (join, tokenFile string) {
	words := strings.Fields(p.stderr.String())
	after := func(flag string) string { return words[slices.Index(words, flag)+1] }
	return after("--join"), after("--token-file")
}

// TestJoinedMachines: machines join by the line that the controller prints, encrypted; one too many and one with another token are refused.
func TestJoinedMachines(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newArrivals(t, time.Millisecond)
	p := program(t, server.load("--concurrency", "4", "--request-count", "80", "--machines", "2", "--machines-listen", "127.0.0.1:0")...).start()
	p.says("--token-file")
	join, file := p.joinLine()
	token, err := os.ReadFile(file)
	if info, e := os.Stat(file); err != nil || e != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", err, e)
	}
	stranger := worker(t, "--join", join, "--name", "x")
	stranger.cmd.Env = append(stranger.cmd.Env, "AIPERF_TOKEN=0123456789abcdef0123456789abcdef")
	if status := stranger.run(); status != 2 || !strings.Contains(stranger.stderr.String(), "token is wrong") {
		t.Errorf("status %d: %s", status, stranger.stderr.String())
	}
	var joined []*process
	for _, name := range []string{"a", "b"} {
		w := worker(t, "--join", join, "--name", name)
		w.cmd.Env = append(w.cmd.Env, "AIPERF_TOKEN="+strings.TrimSpace(string(token)))
		joined = append(joined, w.start())
	}
	p.reaches(server, 0)
	late := worker(t, "--join", join, "--name", "c", "--token-file", file)
	if status := late.run(); status != 3 || !strings.Contains(late.stderr.String(), "has its 2 machines already") {
		t.Errorf("status %d: %s", status, late.stderr.String())
	}
	if status := p.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, p.stderr.String())
	}
	for _, w := range joined {
		if status := w.wait(); status != 0 {
			t.Errorf("a worker ended with status %d\n%s", status, w.stderr.String())
		}
	}
	if list := p.machines(); len(list) != 2 || list[0].Sent+list[1].Sent != 80 || len(p.records()) != 80 {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the token is still there: %v", err)
	}
}
