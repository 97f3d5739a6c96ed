// Package adaptive raises the load of a phase, window by window, until its service level breaks, and then holds the highest load that kept
// it. It decides alone: what moves the load, and what tells it of requests, is the caller's business.
//
//	discover  a window that passes raises the load by a step; the first that fails ends it
//	sustain   the load of the last window that passed is held; one failing window lowers it, the next one ends the phase
//
// The rules, the figures and the files are those of the Python tool's timing mode adaptive_scale (the contract's timing chapter, 14.2).
package adaptive

import (
	"math"
	"time"
)

// How much a step raises the load.
const (
	Margin  = "sla_margin"         // a base step, times more the farther the window was from the bounds
	Percent = "fixed_percent_step" // a share of the load
)

// Strategy is the only strategy there is.
const Strategy = "ramp_until_fail"

// Settings are those of one phase.
type Settings struct {
	Variable      string  // what is moved: concurrency, prefill_concurrency, request_rate, users
	Whole         bool    // its values are whole numbers
	Min, Max      float64 // the first value, and the highest
	Conditions    []Condition
	Policy        string // Margin or Percent
	BaseStep      int
	MaxMultiplier int
	StepPercent   float64
	Least         int           // successful requests below which a window decides nothing
	Sustain       time.Duration // how long the load is held at the end
}

// state is what the controller is at.
type state string

const (
	discover state = "discover"
	sustain  state = "sustain"
	complete state = "complete"
)

// Why a phase ended; they are words of the files.
const (
	AtMaximum     = "max_control_value_reached_without_saturation"
	NoneHolds     = "no_sustainable_concurrency_found"
	Unrecoverable = "sustain_failed_sla_unrecoverable"
	FailedAgain   = "sustain_failed_after_recovery"
	Sustained     = "sustain_duration_completed"
	PhaseStopped  = "phase_stopped"   // another stop rule of the phase fired
	PhaseCut      = "phase_cancelled" // the run was interrupted
)

// Controller decides about one phase. It is not safe for concurrent use.
type Controller struct {
	Settings
	emit func(*Event)

	at            state
	value         float64
	boundary      *float64
	passed        *float64 // the last value whose window passed
	failed        *float64 // the first one whose window failed
	sustainedFrom time.Time
	recovering    bool // a window of the sustaining has failed, and none has passed since
	windows       int  // of the sustaining
	windowsPassed int
	iteration     int
	reason        string
	candidates    []candidate
	last          *Window
}

// New makes the controller of a phase at its lowest load. emit is told every event in order.
func New(s Settings, emit func(*Event)) *Controller {
	c := &Controller{Settings: s, emit: emit, at: discover}
	c.set(s.Min)
	return c
}

// Begin tells that the phase's clock runs.
func (c *Controller) Begin(now time.Time) {
	c.tell(now, &Event{Name: "adaptive_phase_started", Reason: "the load starts at its lowest value", Before: c.value}, &Window{From: now, To: now})
}

// Value is the load that is to be kept now.
func (c *Controller) Value() float64 { return c.value }

// Done tells whether the phase is to end.
func (c *Controller) Done() bool { return c.at == complete }

// SustainedFrom is when the last value began to be held; zero = not yet. Requests that were sent earlier say nothing of it.
func (c *Controller) SustainedFrom() time.Time { return c.sustainedFrom }

// Assess judges a window, whose end is now.
func (c *Controller) Assess(w *Window) {
	if c.Done() {
		return
	}
	defer func() { c.iteration++ }()
	told := w.told(c.Conditions)
	switch n := len(w.Requests); {
	case n == 0 && w.total() > 0 && !told:
		no := false
		c.tell(w.To, &Event{Name: "adaptive_window", Reason: "no request of the window succeeded", Passed: &no, Before: c.value}, w)
		c.note(w, "error_threshold")
		c.decide(w, &judged{reason: "every request of the window failed"})
		return
	case n < c.Least && (n > 0 || w.total() == 0 || !told):
		c.tell(w.To, &Event{Name: "adaptive_window", Reason: "too few requests succeeded to decide", Before: c.value}, w)
		c.note(w, "insufficient_samples")
		return
	}
	j := &judged{values: map[string]float64{}, passes: true}
	for _, one := range c.Conditions {
		v := one.value(w, c.Conditions)
		j.values[one.Key()] = v
		j.passes = j.passes && one.holds(v)
	}
	first := j.values[c.Conditions[0].Key()]
	j.first = &first
	c.tell(w.To, &Event{Name: "adaptive_window", Reason: "judged by the service level", Value: j.first, Values: j.values, Passed: &j.passes, Before: c.value}, w)
	rejected := "sla_miss"
	if j.passes {
		rejected = ""
	}
	c.note(w, rejected)
	c.decide(w, j)
}

// judged is what the conditions say of a window.
type judged struct {
	values map[string]float64 // by Key; nil = nothing could be computed
	first  *float64           // that of the first condition
	passes bool
	reason string // why it fails, when the conditions do not say
}

func (j *judged) why(otherwise string) string {
	if j.reason != "" {
		return j.reason
	}
	return otherwise
}

func (c *Controller) decide(w *Window, j *judged) {
	switch {
	case c.at == sustain:
		c.hold(w, j)
	case j.passes:
		c.raise(w, j)
	default:
		at := c.value
		c.failed = &at
		if c.passed == nil {
			c.finish(w, NoneHolds, "adaptive_failed", j.first)
			return
		}
		c.enter(w, j)
	}
}

// raise follows a window that passed while the boundary is looked for.
func (c *Controller) raise(w *Window, j *judged) {
	before := c.value
	c.passed = &before
	if before >= c.Max {
		c.finish(w, AtMaximum, "adaptive_incomplete", j.first)
		return
	}
	c.set(before + c.step(before, j.values))
	step := c.value - before
	c.tell(w.To, &Event{Name: "adaptive_decision", Reason: "the window kept the service level", Value: j.first, Values: j.values, Before: before, Step: &step}, w)
}

// enter begins to hold the last value that passed.
func (c *Controller) enter(w *Window, j *judged) {
	before, boundary := c.value, max(c.Min, *c.passed)
	c.boundary = &boundary
	c.set(boundary)
	c.at, c.sustainedFrom = sustain, w.To
	c.tell(w.To, &Event{Name: "sustain_started", Reason: "the boundary is held", Value: j.first, Before: before}, w)
	c.tell(w.To, &Event{Name: "boundary_discovered", Reason: j.why("the window broke the service level"), Value: j.first, Before: boundary}, w)
}

// hold follows a window while the boundary is held.
func (c *Controller) hold(w *Window, j *judged) {
	c.windows++
	before := c.value
	if j.passes {
		c.windowsPassed++
		c.passed, c.recovering = &before, false
		c.tell(w.To, &Event{Name: "adaptive_decision", Reason: "the window kept the service level while the load was held", Value: j.first, Before: before}, w)
		if w.To.Sub(c.sustainedFrom) >= c.Sustain {
			c.finish(w, Sustained, "adaptive_complete", j.first)
		}
		return
	}
	if c.recovering {
		c.finish(w, FailedAgain, "adaptive_failed", j.first)
		return
	}
	c.recovering = true
	target := max(c.Min, *c.passed)
	if target >= before {
		target = max(c.Min, before-c.step(before, j.values))
	}
	if target == before && before == c.Min {
		c.finish(w, Unrecoverable, "adaptive_failed", j.first)
		return
	}
	c.set(target)
	step := math.Abs(before - c.value)
	c.tell(w.To, &Event{
		Name: "adaptive_decision", Reason: j.why("the window broke the service level while the load was held"), Value: j.first, Values: j.values, Before: before, Step: &step,
	}, w)
}

// Stop ends it from outside: PhaseStopped or PhaseCut.
func (c *Controller) Stop(now time.Time, reason string) {
	event := "adaptive_complete"
	if reason == PhaseCut {
		event = "adaptive_failed"
	}
	if !c.Done() {
		c.finish(&Window{From: now, To: now}, reason, event, nil)
	}
}

func (c *Controller) finish(w *Window, reason, event string, value *float64) {
	c.at, c.reason, c.last = complete, reason, w
	c.tell(w.To, &Event{Name: event, Reason: reason, Value: value, Before: c.value}, w)
}

// set takes a value within the bounds.
func (c *Controller) set(v float64) {
	v = max(c.Min, min(v, c.Max))
	if c.Whole {
		v = math.Trunc(v)
	}
	c.value = v
}

// step is how far a value is moved. With Margin: base · clamp(⌊m·most⌋, 1, most) for the smallest margin m of all conditions, the base alone when
// no margin is known. With Percent: that share of the value, rounded up, at least 1.
func (c *Controller) step(from float64, values map[string]float64) float64 {
	if c.Policy == Percent {
		return max(1, math.Ceil(from*(c.StepPercent/100)))
	}
	least, known := c.tightest(values)
	if known == "" {
		return float64(c.BaseStep)
	}
	most := float64(c.MaxMultiplier)
	return float64(c.BaseStep) * max(1, min(most, math.Floor(max(0, least)*most)))
}

// tightest is the smallest margin, and the condition that has it; "" = none has one.
func (c *Controller) tightest(values map[string]float64) (least float64, key string) {
	for _, one := range c.Conditions {
		v, ok := values[one.Key()]
		if !ok {
			continue
		}
		if m, ok := one.margin(v); ok && (key == "" || m < least) {
			least, key = m, one.Key()
		}
	}
	return least, key
}
