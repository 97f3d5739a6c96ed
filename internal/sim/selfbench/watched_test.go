package main

import (
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestSlope: memory that grows by 1 byte a second grows by 3,600 an hour; one reading has no slope.
func TestSlope(t *testing.T) {
	var list []reading
	for i := range 10 {
		list = append(list, reading{time.Duration(i) * time.Second, int64(100 + i), 7})
	}
	if got := slope(list, func(r reading) float64 { return float64(r.memory) }); math.Abs(got-3600) > 1e-6 {
		t.Errorf("memory grows by %g an hour, want 3600", got)
	}
	if got := slope(list[:1], func(r reading) float64 { return float64(r.memory) }); got != 0 {
		t.Errorf("one reading has the slope %g", got)
	}
	if got := descriptorGrowth(list); math.Abs(got) > 1e-6 {
		t.Errorf("flat descriptors grow by %g", got)
	}
	for i := range list {
		list[i].descriptors = 2 * i
	}
	if got := descriptorGrowth(list); math.Abs(got-18) > 1e-6 {
		t.Errorf("descriptors grow by %g, want 18", got)
	}
}

func TestSteadyPart(t *testing.T) {
	var list []reading
	for i := range 13 {
		list = append(list, reading{after: time.Duration(i) * time.Second})
	}
	if got := steadyPart(list, 10*time.Second); len(got) != 7 || got[0].after != 3*time.Second || got[6].after != 9*time.Second {
		t.Error(got)
	}
}

func TestProportionalSet(t *testing.T) {
	if got, ok := proportionalSet("Rss:   9 kB\nPss:            2048 kB\nPss_Anon: 7 kB\n"); got != 2<<20 || !ok {
		t.Error(got, ok)
	}
	for _, text := range []string{"", "Pss: many kB\n", "Pss_Anon: 7 kB\n"} {
		if got, ok := proportionalSet(text); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
	if r, ok := readProcess(os.Getpid()); runtime.GOOS == "linux" && (!ok || r.memory <= 0 || r.descriptors < 3) {
		t.Errorf("of this process: %+v, %v", r, ok)
	}
}

func TestRateOf(t *testing.T) {
	if got, err := rateOf("  Requests/sec:\t22768.3687\n  Latency"); err != nil || got != 22768.3687 {
		t.Error(got, err)
	}
	for _, text := range []string{"", "Requests/sec:", "Requests/sec: many", "Requests/sec: 7\nError distribution:\n", "Non-2xx or 3xx responses: 5\nRequests/sec: 7\n"} {
		if got, err := rateOf(text); err == nil {
			t.Errorf("%q: %g", text, got)
		}
	}
	if _, err := printedRate("false"); err == nil || !strings.Contains(err.Error(), "false") {
		t.Error(err)
	}
}
