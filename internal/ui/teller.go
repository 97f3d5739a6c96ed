package ui

import (
	"fmt"
	"time"

	"aiperf/internal/terminal"
	"aiperf/internal/ui/board"
)

// Teller says in plain sentences how a run goes on, for logs, pipes and screen readers. It is told of the state now and then; one goroutine calls it.
type Teller struct {
	// Pause is the most time between two sentences of statistics; 0 = there are none for the time that passes.
	Pause time.Duration
	// Steps: phases that begin and end are told of, and every tenth of a phase.
	Steps bool
	Say   func(sentence string) // statistics, and what goes on
	Warn  func(sentence string) // servers that stand still

	steps  []board.StepState
	phase  string
	tenths int
	last   time.Time
	drains bool
	stalls stallNews
}

// Tell says what is new in a state.
func (t *Teller) Tell(s *board.State, now time.Time) {
	if s.Stage == board.Starting {
		t.last = now
		return
	}
	if s.Phase != t.phase {
		if t.ended(s); t.last.IsZero() || t.phase != "" {
			t.last = now
		}
		t.phase, t.tenths, t.drains, t.stalls = s.Phase, 0, false, stallNews{}
	}
	t.begun(s)
	t.stalled(&s.Stall)
	switch tenths := int(10 * s.Share); {
	case s.Stage == board.Processing:
	case t.Steps && s.Known && tenths > t.tenths, t.Pause > 0 && now.Sub(t.last) >= t.Pause:
		t.tenths, t.last = tenths, now
		t.Say(board.Sentence(s))
	}
	if t.Steps && s.Stage == board.Draining && s.Counts.InFlight > 0 && !t.drains {
		t.drains = true
		t.Say("draining: " + terminal.Plural(s.Counts.InFlight, "answer") + " to come")
	}
	t.ended(s)
}

// begun tells of phases that have begun since the last time.
func (t *Teller) begun(s *board.State) {
	for i := range s.Steps {
		if len(t.steps) <= i {
			t.steps = append(t.steps, board.Waits)
		}
		if one := &s.Steps[i]; i > 0 && one.State == board.Runs && t.steps[i] == board.Waits { // the first is the start, which tells of itself
			if t.steps[i] = board.Runs; t.Steps {
				t.Say(board.Spoken(one.Name) + ": " + one.Text)
			}
		}
	}
}

// ended tells of phases that are over since the last time.
func (t *Teller) ended(s *board.State) {
	for i := range min(len(s.Steps), len(t.steps)) {
		if one := &s.Steps[i]; i > 0 && one.State == board.Done && t.steps[i] != board.Done {
			if t.steps[i] = board.Done; t.Steps {
				t.Say(fmt.Sprintf("%s complete: %s, %.1f s", board.Spoken(one.Name), one.Text, one.Took.Seconds()))
			}
		}
	}
}
