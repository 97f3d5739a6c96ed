package watch

import (
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/metric"
)

// arrive reports one event per interval of the given number of ms in a span to a StallDetector.
func arrive(p *StallDetector, base, from, to, every int64) {
	for at := from; at < to; at += every {
		p.Received(base + at*1e6)
	}
}

// TestSilence: a server that sends nothing for a second and much longer than usual, while requests wait, has stalled. What else looks like it
// did not: nobody waits, it is always that slow, the first token always takes so long, the client did not look.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name    string
		play    func(p *StallDetector, base int64)
		blind   int64 // ms
		silence time.Duration
	}{
		{"steady", func(p *StallDetector, b int64) { arrive(p, b, 0, 5000, 10) }, 0, 0},
		{"stands still", func(p *StallDetector, b int64) { arrive(p, b, 0, 2000, 10); arrive(p, b, 4200, 6000, 10) }, 0, 2210 * time.Millisecond},
		{"not long enough", func(p *StallDetector, b int64) { arrive(p, b, 0, 2000, 10); arrive(p, b, 2900, 6000, 10) }, 0, 0},
		{"always slow", func(p *StallDetector, b int64) { arrive(p, b, 0, 20_000, 1000) }, 0, 0},
		{"few events, one long wait", func(p *StallDetector, b int64) { arrive(p, b, 0, 200, 100); arrive(p, b, 3000, 3200, 100) }, 0, 2900 * time.Millisecond},
		{"long prefill", func(p *StallDetector, b int64) {
			for i := range int64(5) {
				p.FirstWait(1500e6)
				arrive(p, b, 3000*i+1500, 3000*i+3000, 10)
			}
		}, 0, 0},
		{"the client did not look", func(p *StallDetector, b int64) { arrive(p, b, 0, 2000, 10); arrive(p, b, 4200, 6000, 10) }, 2000, 0},
	} {
		p := &StallDetector{NotReading: func(int64, int64) int64 { return c.blind * 1e6 }}
		p.Enter()
		base := p.last.Load() + 1
		c.play(p, base)
		list := p.Silences()
		var got time.Duration
		if len(list) > 0 {
			got = time.Duration(list[0].To - list[0].From)
		}
		if got != c.silence || c.silence > 0 && (len(list) != 1 || list[0].Waiting != 1) {
			t.Errorf("%s: %v of %v, want %v", c.name, got, list, c.silence)
		}
	}
}

// TestSilenceNow: a stall is seen while it lasts, and only while requests wait.
func TestSilenceNow(t *testing.T) {
	var p StallDetector
	p.Enter()
	base := p.last.Load() + 1
	arrive(&p, base, 0, 2000, 10)
	last := p.last.Load()
	for after, want := range map[int64]bool{900e6: false, 1250e6: true} {
		if got := p.Current(last+after) != (metric.ServerSilence{}); got != want {
			t.Errorf("%v after the last event: %v", time.Duration(after), got)
		}
	}
	p.Leave()
	if p.Current(last+3e9) != (metric.ServerSilence{}) {
		t.Error("nobody waits")
	}
	p.Reset()
	if len(p.Silences()) != 0 {
		t.Error("a silence of the warm-up")
	}
}

// TestSilenceUntilGivenUp: requests that are given up after a long wait tell of it, too; time without requests does not count.
func TestSilenceUntilGivenUp(t *testing.T) {
	var p StallDetector
	p.Enter()
	p.last.Store(clock.Now() - 3e9)
	p.Leave()
	if list := p.Silences(); len(list) != 1 || list[0].To-list[0].From < 3e9 {
		t.Errorf("%v", list)
	}
	p.Reset()
	p.last.Store(clock.Now() - 3e9)
	p.Enter()
	p.Received(clock.Now())
	if list := p.Silences(); len(list) != 0 {
		t.Errorf("nobody waited: %v", list)
	}
}

// TestSilenceOfMany: a silence tells of all requests that waited in it, also if they are given up one after the other at its end.
func TestSilenceOfMany(t *testing.T) {
	silence := func(end func(p *StallDetector)) []metric.ServerSilence {
		var p StallDetector
		p.Enter()
		p.Received(clock.Now())
		for range 19 {
			p.Enter()
		}
		p.last.Store(clock.Now() - 3e9)
		end(&p)
		return p.Silences()
	}
	for name, end := range map[string]func(p *StallDetector){
		"all are given up": func(p *StallDetector) {
			for range 20 {
				p.Leave()
			}
		},
		"19 are given up and one is answered": func(p *StallDetector) {
			for range 19 {
				p.Leave()
			}
			p.Received(clock.Now())
		},
		"data for all": func(p *StallDetector) { p.Received(clock.Now()) },
	} {
		if list := silence(end); len(list) != 1 || list[0].Waiting != 20 {
			t.Errorf("%s: %v", name, list)
		}
	}
}

// TestGapBuckets: every gap lies in a bucket that ends at most an eighth above it.
func TestGapBuckets(t *testing.T) {
	for _, ns := range []int64{0, 1, 7, 8, 9, 15, 16, 17, 100, 12345, 1e6, 999_999_999, 5e12} {
		end := gapEnd(gapBucket(ns))
		if end < ns || float64(end) > 1.125*float64(ns)+1 {
			t.Errorf("%d is in a bucket up to %d", ns, end)
		}
	}
}
