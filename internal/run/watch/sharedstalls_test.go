package watch

import (
	"slices"
	"testing"

	"aiperf/internal/base/binenc"
	"aiperf/internal/base/clock"
	"aiperf/internal/measure/metric"
)

func span(from, to int64) metric.Window { return metric.Window{From: from, To: to} }

// TestSharedStalls: servers stalled if no machine received data while requests of some machine waited.
func TestSharedStalls(t *testing.T) {
	const s = 1e9
	stall := func(from, to, waiting int64) metric.ServerSilence {
		return metric.ServerSilence{From: from * s, To: to * s, Waiting: waiting}
	}
	always := []metric.Window{span(-100*s, 100*s)}
	for name, c := range map[string]struct {
		machines []QuietTimes
		want     []metric.ServerSilence
	}{
		"one machine":           {[]QuietTimes{{[]metric.ServerSilence{stall(5, 8, 3)}, []metric.Window{span(5*s, 8*s)}}}, []metric.ServerSilence{stall(5, 8, 3)}},
		"both":                  {[]QuietTimes{{[]metric.ServerSilence{stall(5, 8, 3)}, []metric.Window{span(5*s, 8*s)}}, {[]metric.ServerSilence{stall(6, 9, 2)}, []metric.Window{span(6*s, 9*s)}}}, []metric.ServerSilence{stall(6, 8, 5)}},
		"the other gets data":   {[]QuietTimes{{[]metric.ServerSilence{stall(5, 8, 3)}, []metric.Window{span(5*s, 8*s)}}, {nil, []metric.Window{span(-1, 2*s)}}}, nil},
		"the other has nothing": {[]QuietTimes{{[]metric.ServerSilence{stall(5, 8, 3)}, []metric.Window{span(5*s, 8*s)}}, {nil, always}}, []metric.ServerSilence{stall(5, 8, 3)}},
		"too short together":    {[]QuietTimes{{[]metric.ServerSilence{stall(5, 8, 3)}, []metric.Window{span(5*s, 8*s)}}, {nil, []metric.Window{span(7*s+s/2, 30*s)}}}, nil},
		"one after the other": {[]QuietTimes{
			{[]metric.ServerSilence{stall(5, 8, 3)}, always}, {[]metric.ServerSilence{stall(12, 15, 4)}, always},
		}, []metric.ServerSilence{stall(5, 8, 3), stall(12, 15, 4)}},
		"outside the run": {[]QuietTimes{{[]metric.ServerSilence{stall(-9, -5, 3), stall(58, 70, 1)}, always}}, []metric.ServerSilence{stall(58, 60, 1)}},
		"no order":        {[]QuietTimes{{[]metric.ServerSilence{stall(5, 8, 3)}, []metric.Window{span(5*s, 8*s), span(0, s)}}}, []metric.ServerSilence{stall(5, 8, 3)}},
	} {
		if got := SharedStalls(c.machines, span(0, 60*s)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestQuietTimes: a time without data continues while requests come and go.
func TestQuietTimes(t *testing.T) {
	var p StallDetector
	same := func(at int64) int64 { return at }
	if q := p.QuietTimes(same); len(q.Quiet) != 1 || q.Quiet[0].From > -1e18 || q.Quiet[0].To < 1e18 {
		t.Fatalf("nothing was sent: %v", q)
	}
	p.Enter()
	first := p.last.Load()
	p.Received(first + 2e9) // the first answer takes 2 s
	p.Received(first + 2e9 + 1e6)
	p.Leave()
	p.last.Store(clock.Now() - 3e9) // the last event was 3 s ago
	last := p.last.Load()
	p.Enter() // a request that is given up
	p.Leave()
	p.Enter()
	p.Received(clock.Now())
	q := p.QuietTimes(same)
	if len(q.Quiet) != 3 || q.Quiet[0].From > -1e18 || q.Quiet[0].To != first+2e9 || q.Quiet[1].From != last || q.Quiet[2].To < 1e18 {
		t.Errorf("%v; first %d, last %d", q.Quiet, first, last)
	}
	w := binenc.NewWriter(nil)
	q.Visit(w)
	var got QuietTimes
	r := binenc.NewReader(w.Bytes())
	if got.Visit(r); r.Err() != nil || !slices.Equal(got.Quiet, q.Quiet) || !slices.Equal(got.Stalls, q.Stalls) {
		t.Errorf("%+v, %v", got, r.Err())
	}
}
