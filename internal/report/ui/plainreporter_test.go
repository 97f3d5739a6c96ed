package ui

import (
	"slices"
	"testing"
	"time"

	"aiperf/internal/report/ui/liveview"
)

// told returns what the reporter prints for states, each a quarter of a second after the one before.
func told(t *PlainReporter, states []liveview.State) (said []string) {
	t.Say = func(text string) { said = append(said, text) }
	t.Warn = func(text string) { said = append(said, "warning: "+text) }
	now := time.Unix(1000, 0)
	for i := range states {
		now = now.Add(250 * time.Millisecond)
		t.Report(&states[i], now)
	}
	return said
}

// story is a run of a warm-up and 10 s: the server sends nothing in the sixth second, and a last answer comes late.
func story() (list []liveview.State) {
	steps := func(warm, load, files liveview.StepState) []liveview.Step {
		s := []liveview.Step{
			{Name: "Starting", Text: "ready", State: liveview.Done}, {Name: "Warm-up", Text: "2 requests", State: warm, Took: 500 * time.Millisecond},
			{Name: "Profiling", Text: "1 in flight for 10 s", State: load, Took: 11 * time.Second}, {Name: "Processing", Text: "reduce, write files", State: files},
		}
		if warm == liveview.Done {
			s[1].Text = "2 requests, 0 errors"
		}
		if load == liveview.Done {
			s[2].Text = "40 requests, 1 error"
		}
		return s
	}
	add := func(s liveview.State) {
		s.Figures = noFigures()
		s.Figures.Requests.Recent, s.Figures.Latency.Run = 4, 250
		list = append(list, s)
	}
	add(liveview.State{Stage: liveview.Starting})
	add(liveview.State{Stage: liveview.Warmup, Phase: "Warm-up", Steps: steps(liveview.Runs, liveview.Waits, liveview.Waits), Counts: liveview.Counts{Requests: 2, ETA: -1}, Known: true})
	for i := range 40 {
		c := liveview.Counts{Elapsed: time.Duration(i) * 250 * time.Millisecond, Duration: 10 * time.Second, OK: int64(i), InFlight: 1, ETA: -1}
		one := liveview.State{Stage: liveview.Profiling, Phase: "Profiling", Steps: steps(liveview.Done, liveview.Runs, liveview.Waits), Counts: c, Known: true, Share: float64(i) / 40}
		if i >= 20 && i < 25 {
			one.Stall = liveview.Stall{Now: time.Duration(i-16) * 250 * time.Millisecond, NowAt: 4, Waits: 1}
			if i == 22 { // a pause of the client puts it in doubt
				one.Stall = liveview.Stall{}
			}
		} else if i >= 25 {
			one.Stall = liveview.Stall{Past: 2200 * time.Millisecond, PastAt: 4, Waits: 1, Count: 1}
		}
		add(one)
	}
	last := list[len(list)-1]
	last.Stage, last.Share, last.Counts.Elapsed = liveview.Draining, 1, 10500*time.Millisecond
	add(last)
	last.Stage, last.Counts.InFlight, last.Steps = liveview.Processing, 0, steps(liveview.Done, liveview.Done, liveview.Runs)
	add(last)
	return list
}

// TestTeller: lines report phases, tenths and stalls of servers; with an interval, also the time and the servers.
func TestTeller(t *testing.T) {
	at := func(percent, seconds, done string) string {
		return "profiling " + percent + " %: " + seconds + " of 10 s, " + done + " done, 0 errors, 4.00 requests/s, latency p50 250 ms, 1 in flight"
	}
	want := []string{
		"warm-up: 2 requests", "warm-up complete: 2 requests, 0 errors, 0.5 s", "profiling: 1 in flight for 10 s",
		at("10", "1", "4"), at("20", "2", "8"), at("30", "3", "12"), at("40", "4", "16"), "warning: no answer for 1.0 s, 1 request waits",
		at("50", "5", "20"), at("60", "6", "24"), "answers arrive again after 2.2 s",
		at("70", "7", "28"), at("80", "8", "32"), at("90", "9", "36"), at("100", "10", "39") + ", draining",
		"draining: 1 answer still running", "profiling complete: 40 requests, 1 error, 11.0 s", "processing: reduce, write files",
	}
	said := told(&PlainReporter{Pause: time.Minute, Steps: true}, story())
	slices.Sort(want)
	got := slices.Clone(said)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("said\n%q\nwant\n%q", got, want)
	}
	if i, k := slices.Index(said, "profiling: 1 in flight for 10 s"), slices.Index(said, "warm-up complete: 2 requests, 0 errors, 0.5 s"); i < k {
		t.Errorf("profiling begins before the warm-up ends: %q", said)
	}
	said = told(&PlainReporter{Pause: 5 * time.Second}, story())
	if want := []string{
		"warning: no answer for 1.0 s, 1 request waits", at("50", "5", "20"), "answers arrive again after 2.2 s", at("100", "10", "39") + ", draining",
	}; !slices.Equal(said, want) {
		t.Errorf("every 5 s\n%q\nwant\n%q", said, want)
	}
	if said := told(&PlainReporter{}, story()); len(said) != 2 {
		t.Errorf("without statistics: %q", said)
	}
}

// TestTellerReportsAStallOnce: one warning a stall, however often it is looked at and also where it ended between two looks.
func TestTellerReportsAStallOnce(t *testing.T) {
	var states []liveview.State
	add := func(times int, st liveview.Stall) {
		for range times {
			states = append(states, liveview.State{Stage: liveview.Profiling, Phase: "Profiling", Stall: st})
		}
	}
	add(3, liveview.Stall{})
	add(4, liveview.Stall{Now: 1500 * time.Millisecond, NowAt: 2, Waits: 4})
	add(2, liveview.Stall{}) // in doubt for a moment
	add(2, liveview.Stall{Now: 3 * time.Second, NowAt: 2.0000004, Waits: 4})
	add(3, liveview.Stall{Past: 3200 * time.Millisecond, PastAt: 2.0000001, Waits: 4, Count: 1})
	add(3, liveview.Stall{Past: 1100 * time.Millisecond, PastAt: 7, Waits: 2, Count: 2})
	add(2, liveview.Stall{Now: 1200 * time.Millisecond, NowAt: 9, Waits: 1})
	want := []string{"warning: no answer for 1.5 s, 4 requests wait", "answers arrive again after 3.2 s", "warning: no answer for 1.1 s at 7.0 s, 2 requests waited",
		"warning: no answer for 1.2 s, 1 request waits"}
	if said := told(&PlainReporter{}, states); !slices.Equal(said, want) {
		t.Errorf("%q\nwant %q", said, want)
	}
}
