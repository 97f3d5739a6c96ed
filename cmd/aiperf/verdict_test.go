//go:build unix

package main

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/sim/mockserver"
)

// judged is what a run reports about itself, next to what the server recorded.
type judged struct {
	Verdict, Reason string
	Notes           []string
	Stalls          int                                     `json:"stall_count"`
	Longest         float64                                 `json:"stall_longest_ms"`
	Uncertain       int                                     `json:"uncertain_requests"`
	Bounds          metric.Bounds                           `json:"bounds"`
	Certain         map[string]struct{ Count, P99 float64 } `json:"certain_metrics"`
	measured, exact float64                                 // p99 of the time to first token, ms
}

// p99 is the range of the p99 of the time to first token, ms.
func (j *judged) p99() metric.Range {
	return j.Bounds.Of("time_to_first_token", metric.P99, j.measured)
}

// off is how much too high the measured p99 is.
func (j *judged) off() float64 { return j.measured/j.exact - 1 }

// closedLoop is a run of 12 streams against a server that logs what it does.
func closedLoop(t *testing.T, requests string) (p *process, truth string) {
	truth = filepath.Join(t.TempDir(), "truth.jsonl")
	mock := url.Values{"ttft": {"70ms"}, "itl": {"5ms"}, "tokens": {"30"}, "jitter": {"0.2"}, "truth-log": {truth}}
	return program(t, "--url", "mock://?"+mock.Encode(), "--streaming", "--concurrency", "12", "--request-count", requests, "--isl", "8",
		"--num-dataset-entries", "10"), truth
}

// judge compares the times to the first token with the server's own: a message that arrived while the server was writing it is right.
func (p *process) judge(truth string) *judged {
	p.t.Helper()
	wrote := map[string]mockserver.Write{}
	for _, l := range readLines[mockserver.Truth](p.t, truth) {
		for _, w := range l.Writes {
			if w.Events > 0 {
				wrote[l.RequestID] = w
				break
			}
		}
	}
	j := new(judged)
	var measured, exact []float64
	for _, l := range p.records() {
		w, ok := wrote[l.Metadata.RequestID]
		if l.Error != nil || !ok {
			p.t.Fatalf("request %s: %v", l.Metadata.RequestID, l.Error)
		}
		took := l.number(p.t, "time_to_first_token")
		measured = append(measured, took)
		exact = append(exact, min(max(took, float64(w.Before-l.Metadata.Start)/1e6), float64(w.After-l.Metadata.Start)/1e6))
	}
	p99 := func(v []float64) float64 {
		slices.Sort(v)
		return stats.Percentile(v, 99)
	}
	p.summary().read(p.t, "validity", j)
	j.measured, j.exact = p99(measured), p99(exact)
	p.t.Logf("p99 %.1f ms, true %.1f ms; bounds %.1f ms; %d stalls, longest %.0f ms; %d uncertain\n%s: %s", j.measured, j.exact, j.p99(),
		j.Stalls, j.Longest, j.Uncertain, j.Verdict, j.Reason)
	return j
}

// holds checks what every verdict promises.
func (j *judged) holds(t *testing.T) {
	t.Helper()
	if j.off() > 0.05 && j.Verdict == "valid" {
		t.Errorf("valid, and the p99 is %.1f %% too high", 100*j.off())
	}
	if j.Verdict == "client limited" && !strings.Contains(j.Reason, "cores") && !strings.Contains(j.Reason, "slots were in use") || j.Verdict == "uncertain" && len(j.Bounds) == 0 {
		t.Errorf("the client is blamed without a reason: %s", j.Reason)
	}
	if in := j.p99(); j.exact < in.Low-0.05 || j.exact > in.High+0.05 {
		t.Errorf("the p99 is %.3f ms, its bounds are %.3f", j.exact, in)
	}
}

// TestVerdictOfStoppedClient: a client that is stopped while answers come says so, and gives the requests that did not suffer.
func TestVerdictOfStoppedClient(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	p, truth := closedLoop(t, "240")
	p.start()
	lines := func() int {
		text, err := os.ReadFile(truth)
		if err != nil {
			return 0
		}
		return bytes.Count(text, []byte("\n"))
	}
	stops := 0
	for begin := 20; begin < 200 && stops < 3; begin += 30 { // a client that was delayed before may have few requests in flight, so it is stopped once more
		until(t, "answers", func() bool { return lines() >= begin })
		p.signal(syscall.SIGSTOP)
		if at := lines(); within(2*time.Second, func() bool { return lines() >= at+8 }) {
			stops++
		}
		p.signal(syscall.SIGCONT)
	}
	if got := p.wait(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	p.complete(240)
	j := p.judge(truth)
	j.holds(t)
	if j.Stalls < 1 || j.Longest < 10 { // how long each one was is the server's choice; a short one lies between two beats
		t.Errorf("%d stalls, the longest of %v ms", j.Stalls, j.Longest)
	}
	if c := j.Certain["time_to_first_token"]; j.Uncertain == 0 || c.Count != float64(240-j.Uncertain) {
		t.Errorf("%d of 240 requests are uncertain, %v certain", j.Uncertain, c.Count)
	}
	if notes := strings.Join(j.Notes, "\n"); !strings.Contains(notes, "The client was paused for") || !strings.Contains(notes, "by more than 1 ms or 1 %") {
		t.Errorf("notes:\n%s", notes)
	}
	if !strings.Contains(p.stdout.String(), "~ marks figures") {
		t.Error("the report does not mark figures that are known only approximately")
	}
}

// TestVerdictBesideBusyLoops: other programs that take the processors are noticed, and blamed no more than they did.
func TestVerdictBesideBusyLoops(t *testing.T) {
	testhome.Slow(t)
	for range 4 {
		loop := exec.Command("timeout", "30", "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			loop.Process.Signal(syscall.SIGTERM) // timeout ends the loop with itself
			loop.Wait()
		})
	}
	p, truth := closedLoop(t, "120")
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	j := p.judge(truth)
	j.holds(t)
}
