package ui

import (
	"fmt"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/ui/liveview"
)

// PlainReporter reports the progress of a run in plain sentences, for logs, pipes and screen readers. One goroutine calls it with the state from time
// to time.
type PlainReporter struct {
	// Pause is the longest time between two sentences of statistics; 0 = none are reported for elapsed time.
	Pause time.Duration
	// Steps also reports the start and end of phases, and every tenth of a phase.
	Steps bool
	Say   func(sentence string) // receives statistics and progress
	Warn  func(sentence string) // receives stalls of servers

	steps  []liveview.StepState
	phase  string
	tenths int
	last   time.Time
	drains bool
	stalls reportedStalls
}

// Report reports what is new in a state.
func (t *PlainReporter) Report(s *liveview.State, now time.Time) {
	if s.Stage == liveview.Starting {
		t.last = now
		return
	}
	if s.Phase != t.phase {
		if t.ended(s); t.last.IsZero() || t.phase != "" {
			t.last = now
		}
		t.phase, t.tenths, t.drains, t.stalls = s.Phase, 0, false, reportedStalls{}
	}
	t.begun(s)
	t.stalled(&s.Stall)
	switch tenths := int(10 * s.Share); {
	case s.Stage == liveview.Processing:
	case t.Steps && s.Known && tenths > t.tenths, t.Pause > 0 && now.Sub(t.last) >= t.Pause:
		t.tenths, t.last = tenths, now
		t.Say(liveview.Sentence(s))
	}
	if t.Steps && s.Stage == liveview.Draining && s.Counts.InFlight > 0 && !t.drains {
		t.drains = true
		t.Say("draining: " + terminal.Plural(s.Counts.InFlight, "answer") + " still running")
	}
	t.ended(s)
}

// begun reports phases that have begun since the last call.
func (t *PlainReporter) begun(s *liveview.State) {
	for i := range s.Steps {
		if len(t.steps) <= i {
			t.steps = append(t.steps, liveview.Waits)
		}
		if one := &s.Steps[i]; i > 0 && one.State == liveview.Runs && t.steps[i] == liveview.Waits { // the first step is the start, which reports itself
			if t.steps[i] = liveview.Runs; t.Steps {
				t.Say(liveview.StageInSentence(one.Name) + ": " + one.Text)
			}
		}
	}
}

// ended reports phases that have ended since the last call.
func (t *PlainReporter) ended(s *liveview.State) {
	for i := range min(len(s.Steps), len(t.steps)) {
		if one := &s.Steps[i]; i > 0 && one.State == liveview.Done && t.steps[i] != liveview.Done {
			if t.steps[i] = liveview.Done; t.Steps {
				t.Say(fmt.Sprintf("%s complete: %s, %.1f s", liveview.StageInSentence(one.Name), one.Text, one.Took.Seconds()))
			}
		}
	}
}
