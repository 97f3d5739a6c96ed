//go:build unix

package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/sim/mockserver"
	"aiperf/internal/wire/capture"
)

// rawInstants is what the test reads of a raw line.
type rawInstants struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		Start     int64  `json:"request_start_ns"`
	}
	StartPerf int64 `json:"start_perf_ns"`
	Trace     struct {
		Clock string `json:"clock"`
	} `json:"trace_data"`
	Responses []struct {
		At        int64  `json:"perf_ns"`
		Clock     string `json:"clock"`
		Uncertain int64  `json:"uncertain_ns"`
	}
}

// TestCapture: where the machine grants a capture every event has a packet's instant, none before the server wrote it; where it does not,
// auto continues with kernel stamps and on refuses.
func TestCapture(t *testing.T) {
	ring, missing := capture.Open(capture.Options{})
	if missing == nil {
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
	}
	truth := filepath.Join(t.TempDir(), "truth.jsonl")
	mock := url.Values{"ttft": {"5ms"}, "itl": {"1ms"}, "tokens": {"24"}, "truth-log": {truth}}
	args := []string{"--streaming", "--url", "mock://?" + mock.Encode(), "--concurrency", "4", "--isl", "8", "--request-count", "20", "--export-level", "raw"}
	p := program(t, append(args, "--capture", "auto")...)
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	wrote := map[string]int64{}
	for _, l := range readLines[mockserver.Truth](t, truth) {
		for _, w := range l.Writes {
			if w.Events > 0 {
				wrote[l.RequestID] = w.Before
				break
			}
		}
	}
	lines := readLines[rawInstants](t, filepath.Join(p.dir, "profile_export_raw.jsonl"))
	if len(lines) != 20 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		for i, m := range l.Responses {
			clock := m.Clock
			if clock == "" {
				clock = l.Trace.Clock
			}
			if (clock == "packet") != (missing == nil) || clock == "packet" && m.Uncertain != 0 {
				t.Errorf("event %d: clock %q, uncertain by %d; capture: %v", i, clock, m.Uncertain, missing)
			}
		}
		const role = 1 // the first event has no content
		if at := l.Metadata.Start - l.StartPerf + l.Responses[role].At; at < wrote[l.Metadata.RequestID] {
			t.Errorf("the first token arrived %d ns before it was written", wrote[l.Metadata.RequestID]-at)
		}
	}
	if missing == nil {
		return
	}
	if !errors.Is(missing, os.ErrPermission) && !errors.Is(missing, capture.ErrUnsupported) {
		t.Fatal(missing)
	}
	p = program(t, append(args, "--capture", "on")...)
	if got := p.run(); got == 0 || !strings.Contains(p.stderr.String(), "packet capture") {
		t.Errorf("exit status %d\n%s", got, p.stderr.String())
	}
}
