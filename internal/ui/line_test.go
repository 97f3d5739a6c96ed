package ui

import (
	"math"
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

// TestLive: medians are exact, of the recent answers of the phase that is shown; late answers of a phase that is over change nothing.
func TestLive(t *testing.T) {
	var l Live
	for i := range 5 {
		l.Add(0, float64(10*(i+1)), float64(100*(i+1)), 7)
	}
	l.Add(0, math.NaN(), 600, math.NaN())
	var s Snapshot
	if l.Fill(0, &s); s.TTFT != 30 || s.Latency != 350 || s.Tokens != 35 {
		t.Errorf("%+v", s)
	}
	if s = (Snapshot{}); s.Tokens != 0 {
		t.Fatal("not reset")
	}
	if l.Fill(1, &s); s.TTFT != 0 || s.Tokens != 0 {
		t.Errorf("a phase that has no answers yet: %+v", s)
	}
	l.Add(1, 1, 2, 3)
	l.Add(0, 1000, 1000, 1000)
	if l.Fill(1, &s); s.TTFT != 1 || s.Latency != 2 || s.Tokens != 3 {
		t.Errorf("the second phase: %+v", s)
	}
	for range recent {
		l.Add(1, 9, 9, 1)
	}
	if l.Fill(1, &s); s.TTFT != 9 || s.Tokens != 3+recent {
		t.Errorf("old answers count: %+v", s)
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
