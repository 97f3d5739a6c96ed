//go:build unix

package main

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/sim/mockserver"
)

// TestFirstCommand: the command of the first tour prints a report and leaves all files; its first request comes soon.
func TestFirstCommand(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	truth := filepath.Join(t.TempDir(), "truth.jsonl")
	u := "mock://?" + url.Values{"ttft": {"1ms"}, "itl": {"100us"}, "truth-log": {truth}}.Encode()
	p := program(t, "--url", u, "--streaming", "--concurrency", "8", "--request-count", "200")
	began := time.Now()
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	p.complete(200)
	first := readLines[mockserver.Truth](t, truth)[0].Arrival
	for _, l := range p.records() {
		first = min(first, l.Metadata.Start)
	}
	t.Logf("first request %v after the process was started", time.Unix(0, first).Sub(began)) // printed, not asserted, because machines differ
	s := p.summary()
	if s.avg(t, "request_count") != 200 || s.text("is_complete") == "false" || s.verdict(t) == "" {
		t.Errorf("request_count %v, is_complete %s", s.avg(t, "request_count"), s.text("is_complete"))
	}
	if out := p.stdout.String(); !strings.Contains(out, "Validity: ") || !strings.Contains(out, "Time to First Token") {
		t.Errorf("report:\n%s", out)
	}
}

// TestServerLimited: a server that is too slow for the rate, with all slots taken, is distinguished from a slow client.
func TestServerLimited(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	p := program(t, "--url", "mock://?ttft=30ms&itl=0&tokens=4", "--request-rate", "200", "--request-rate-mode", "constant",
		"--concurrency", "2", "--request-count", "40", "--isl", "8", "--num-dataset-entries", "4")
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	var v struct {
		Verdict, Reason string
		Cap             float64 `json:"time_at_concurrency_cap"`
	}
	p.summary().read(t, "validity", &v)
	if v.Cap < 0.5 {
		t.Errorf("all slots are taken for %.2f of the time only", v.Cap)
	}
	// A test machine may really be too slow; then, and only then, the client is to blame.
	if v.Verdict != "server limited" && v.Verdict != "client limited" && v.Verdict != "uncertain" || v.Verdict == "server limited" && !strings.Contains(v.Reason, "requests in flight used every slot") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if !strings.Contains(p.stdout.String(), "Not a clean measurement") {
		t.Error("the end of the report does not say so")
	}
}

// TestClientLimited: connections that fail for want of files of this process are the client's fault, not the server's.
func TestClientLimited(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 5) // and holds the rest, so that connections pile up
	p := program(t, towards(server.URL, "--request-rate", "1000", "--request-rate-mode", "constant", "--request-count", "150", "--request-timeout-seconds", "3")...).
		underShell("ulimit -n 80")
	if got := p.run(); got != 0 {
		t.Errorf("exit status %d, want 0\n%s", got, p.stderr.String())
	}
	p.complete(150)
	var v struct {
		Verdict, Reason string
		Hits            int `json:"client_limit_hits"`
	}
	p.summary().read(t, "validity", &v)
	if v.Verdict != "client limited" || v.Hits == 0 || !strings.Contains(v.Reason, "its own limits") {
		t.Errorf("%s (%d hits): %s", v.Verdict, v.Hits, v.Reason)
	}
}
