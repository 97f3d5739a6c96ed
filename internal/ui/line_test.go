package ui

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	full := Snapshot{
		Phase: "profiling", Finished: 50, Errors: 2, InFlight: 8, Requests: 200, Elapsed: 10 * time.Second, Sending: true,
		Tokens: 12_000, TTFT: 120.4e6, Latency: 1_234.5e6,
	}
	rate := Rates{Requests: 5, Tokens: 1200}
	for _, c := range []struct {
		name  string
		s     Snapshot
		width int
		want  string
	}{
		{"wide", full, 160, "profiling  [=====               ]  25%  50/200 done  5.00 req/s  1,200 tok/s  p50 TTFT 120 ms  latency 1,234 ms  8 in flight  2 errors  10s  ETA 30s"},
		{"100", full, 100, "profiling  25%  50/200 done  1,200 tok/s  p50 TTFT 120 ms  latency 1,234 ms  2 errors  ETA 30s"},
		{"80", full, 80, "profiling  25%  1,200 tok/s  p50 TTFT 120 ms  latency 1,234 ms  2 errors"},
		{"log", full, 0, "profiling  25%  50/200 done  5.00 req/s  1,200 tok/s  p50 TTFT 120 ms  latency 1,234 ms  8 in flight  2 errors  10s  ETA 30s"},
		{"by time", Snapshot{Phase: "warmup", Finished: 3, Duration: 20 * time.Second, Elapsed: 5 * time.Second, Sending: true}, 120,
			"warmup  [=====               ]  25%  3 done  5.00 req/s  0 in flight  0 errors  5s  ETA 15s"},
		{"unlimited", Snapshot{Phase: "profiling", Finished: 3, Elapsed: 5 * time.Second, Sending: true}, 120,
			"profiling  3 done  5.00 req/s  0 in flight  0 errors  5s"},
		{"draining", Snapshot{Phase: "profiling", Finished: 9, Requests: 10, Elapsed: time.Second}, 120,
			"profiling  [==================  ]  90%  9/10 done  5.00 req/s  0 in flight  0 errors  1s  draining"},
	} {
		if got := c.s.Line(rate, c.width); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.name, got, c.want)
		}
	}
	alone := Snapshot{Phase: "p", Finished: 1, Requests: 2, Elapsed: time.Second, Sending: true, Latency: 5e6}
	if got, want := alone.Line(Rates{Requests: 1}, 0), "p  50%  1/2 done  1.00 req/s  p50 latency 5.00 ms  0 in flight  0 errors  1s  ETA 1s"; got != want {
		t.Errorf("without streaming: %q, want %q", got, want)
	}
	for width := 20; width < 200; width++ {
		if line := full.Line(rate, width); utf8.RuneCountInString(line) >= width {
			t.Errorf("%d columns in a terminal of %d: %q", utf8.RuneCountInString(line), width, line)
		}
	}
}

// TestScreen: text that stays clears the live line first, so that no rest of it is left behind.
func TestScreen(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b)
	s.Draw("line")
	if _, err := s.Write([]byte("warning\n")); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Write([]byte("more\n"))
	s.Draw("again")
	s.Clear()
	s.Clear()
	if want := "\r\x1b[Kline\r\x1b[Kwarning\nmore\n\r\x1b[Kagain\r\x1b[K"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
