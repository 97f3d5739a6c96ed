package view

import (
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/report/ui/liveview"
)

// TestListingProgress: a view shows which share of inputs.json is written and how long the rest takes, by the conversations written since the
// run waits for the file. Each of 30 conversations takes a second.
func TestListingProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen listingProgress
		state := func(stage liveview.Stage) liveview.State {
			s := liveview.State{Stage: stage, Share: 1, Known: true, Counts: liveview.Counts{ETA: 0}}
			seen.fill(&s, time.Now())
			return s
		}
		if s := state(liveview.Processing); s.Writing.Of != 0 || s.Share != 1 {
			t.Errorf("before the run waits: %+v", s.Writing)
		}
		for done := range 6 {
			if done > 0 {
				time.Sleep(time.Second)
			}
			seen.set(done, 30)
		}
		time.Sleep(100 * time.Millisecond)
		s := state(liveview.Processing)
		if s.Writing != (liveview.WriteProgress{Done: 5, Of: 30}) || s.Share != 5./30 || s.Counts.ETA != 25500*time.Millisecond {
			t.Errorf("after 5 s: %+v, share %v, %v left", s.Writing, s.Share, s.Counts.ETA)
		}
		if s := state(liveview.Profiling); s.Writing.Of != 0 || s.Share != 1 {
			t.Errorf("while requests are sent: %+v", s.Writing)
		}
		seen.set(30, 30)
		if s := state(liveview.Processing); s.Writing.Of != 0 || s.Share != 1 {
			t.Errorf("when the file is written: %+v, share %v", s.Writing, s.Share)
		}
	})
}
