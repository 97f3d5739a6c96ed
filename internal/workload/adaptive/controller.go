// Package adaptive raises the load of a phase, window by window, until its service level breaks. It then holds the highest load that met the service
// level. It only decides: the caller changes the load and reports the requests.
//
//	discover  a window that passes raises the load by a step; the first that fails ends it
//	sustain   the load of the last window that passed is held; one failing window lowers it, the next one ends the phase
//
// The rules, the numbers and the files are those of the Python tool's timing mode adaptive_scale (the contract's timing chapter, 14.2).
package adaptive

import (
	"math"
	"time"
)

// Policies for the size of a step.
const (
	Margin  = "sla_margin"         // a base step, multiplied by more the farther the window was from the bounds
	Percent = "fixed_percent_step" // a percentage of the load
)

// Strategy is the only strategy.
const Strategy = "ramp_until_fail"

// Settings are the settings of one phase.
type Settings struct {
	Variable      string  // what is changed: concurrency, prefill_concurrency, request_rate, users
	Whole         bool    // its values are whole numbers
	Min, Max      float64 // the initial and the highest value
	Conditions    []Condition
	Policy        string // Margin or Percent
	BaseStep      int
	MaxMultiplier int
	StepPercent   float64
	Least         int           // minimum number of successful requests; a window with fewer decides nothing
	Sustain       time.Duration // how long the load is held at the end
}

// state is the state of the controller.
type state string

const (
	discover state = "discover"
	sustain  state = "sustain"
	complete state = "complete"
)

// Reasons for the end of a phase, as written to the files.
const (
	AtMaximum     = "max_control_value_reached_without_saturation"
	NoneHolds     = "no_sustainable_concurrency_found"
	Unrecoverable = "sustain_failed_sla_unrecoverable"
	FailedAgain   = "sustain_failed_after_recovery"
	Sustained     = "sustain_duration_completed"
	PhaseStopped  = "phase_stopped"   // another stop rule of the phase applied
	PhaseCut      = "phase_cancelled" // the run was interrupted
)

// Controller makes the decisions for one phase. It is not safe for concurrent use.
type Controller struct {
	Settings
	emit func(*Event)

	at            state
	value         float64
	boundary      *float64
	lastPassed    *float64 // the last value whose window passed
	firstFailed   *float64 // the first one whose window failed
	sustainedFrom time.Time
	recovering    bool // a window of the sustain stage has failed, and none has passed since
	windows       int  // number of windows in the sustain stage
	windowsPassed int
	iteration     int
	reason        string
	candidates    []candidate
	last          *Window
}

// New makes the controller of a phase at its lowest load. emit receives every event, in order.
func New(s Settings, emit func(*Event)) *Controller {
	c := &Controller{Settings: s, emit: emit, at: discover}
	c.set(s.Min)
	return c
}

// Begin sets the start of the phase's clock.
func (c *Controller) Begin(now time.Time) {
	c.emitEvent(now, &Event{Name: "adaptive_phase_started", Reason: "the load starts at its lowest value", Before: c.value}, &Window{From: now, To: now})
}

// Value returns the load to apply now.
func (c *Controller) Value() float64 { return c.value }

// Done reports whether the phase must end.
func (c *Controller) Done() bool { return c.at == complete }

// SustainedFrom returns when the last value began to be held; zero = not yet. Requests sent earlier do not count for it.
func (c *Controller) SustainedFrom() time.Time { return c.sustainedFrom }

// Assess judges a window that ends now.
func (c *Controller) Assess(w *Window) {
	if c.Done() {
		return
	}
	defer func() { c.iteration++ }()
	decided := w.failuresDecide(c.Conditions)
	switch n := len(w.Requests); {
	case n == 0 && w.total() > 0 && !decided:
		no := false
		c.emitEvent(w.To, &Event{Name: "adaptive_window", Reason: "no request of the window succeeded", Passed: &no, Before: c.value}, w)
		c.note(w, "error_threshold")
		c.decide(w, &windowJudgement{reason: "every request of the window failed"})
		return
	case n < c.Least && (n > 0 || w.total() == 0 || !decided):
		c.emitEvent(w.To, &Event{Name: "adaptive_window", Reason: "too few requests succeeded to decide", Before: c.value}, w)
		c.note(w, "insufficient_samples")
		return
	}
	j := &windowJudgement{values: map[string]float64{}, passes: true}
	for _, one := range c.Conditions {
		v := one.value(w, c.Conditions)
		j.values[one.Key()] = v
		j.passes = j.passes && one.holds(v)
	}
	first := j.values[c.Conditions[0].Key()]
	j.first = &first
	c.emitEvent(w.To, &Event{Name: "adaptive_window", Reason: "judged by the service level", Value: j.first, Values: j.values, Passed: &j.passes, Before: c.value}, w)
	rejected := "sla_miss"
	if j.passes {
		rejected = ""
	}
	c.note(w, rejected)
	c.decide(w, j)
}

// windowJudgement is the result of the conditions for a window.
type windowJudgement struct {
	values map[string]float64 // by Key; nil = nothing could be computed
	first  *float64           // value of the first condition
	passes bool
	reason string // reason for the failure, if it is not a condition
}

func (j *windowJudgement) why(otherwise string) string {
	if j.reason != "" {
		return j.reason
	}
	return otherwise
}

func (c *Controller) decide(w *Window, j *windowJudgement) {
	switch {
	case c.at == sustain:
		c.hold(w, j)
	case j.passes:
		c.raise(w, j)
	default:
		at := c.value
		c.firstFailed = &at
		if c.lastPassed == nil {
			c.finish(w, NoneHolds, "adaptive_failed", j.first)
			return
		}
		c.enter(w, j)
	}
}

// raise handles a window that passed while the boundary is being searched.
func (c *Controller) raise(w *Window, j *windowJudgement) {
	before := c.value
	c.lastPassed = &before
	if before >= c.Max {
		c.finish(w, AtMaximum, "adaptive_incomplete", j.first)
		return
	}
	c.set(before + c.step(before, j.values))
	step := c.value - before
	c.emitEvent(w.To, &Event{Name: "adaptive_decision", Reason: "the window kept the service level", Value: j.first, Values: j.values, Before: before, Step: &step}, w)
}

// enter starts to hold the last value that passed.
func (c *Controller) enter(w *Window, j *windowJudgement) {
	before, boundary := c.value, max(c.Min, *c.lastPassed)
	c.boundary = &boundary
	c.set(boundary)
	c.at, c.sustainedFrom = sustain, w.To
	c.emitEvent(w.To, &Event{Name: "sustain_started", Reason: "the boundary is held", Value: j.first, Before: before}, w)
	c.emitEvent(w.To, &Event{Name: "boundary_discovered", Reason: j.why("the window broke the service level"), Value: j.first, Before: boundary}, w)
}

// hold handles a window while the boundary is held.
func (c *Controller) hold(w *Window, j *windowJudgement) {
	c.windows++
	before := c.value
	if j.passes {
		c.windowsPassed++
		c.lastPassed, c.recovering = &before, false
		c.emitEvent(w.To, &Event{Name: "adaptive_decision", Reason: "the window kept the service level while the load was held", Value: j.first, Before: before}, w)
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
	target := max(c.Min, *c.lastPassed)
	if target >= before {
		target = max(c.Min, before-c.step(before, j.values))
	}
	if target == before && before == c.Min {
		c.finish(w, Unrecoverable, "adaptive_failed", j.first)
		return
	}
	c.set(target)
	step := math.Abs(before - c.value)
	c.emitEvent(w.To, &Event{
		Name: "adaptive_decision", Reason: j.why("the window broke the service level while the load was held"), Value: j.first, Values: j.values, Before: before, Step: &step,
	}, w)
}

// Stop ends the phase from outside, with PhaseStopped or PhaseCut.
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
	c.emitEvent(w.To, &Event{Name: event, Reason: reason, Value: value, Before: c.value}, w)
}

// set sets the value, limited to the bounds.
func (c *Controller) set(v float64) {
	v = max(c.Min, min(v, c.Max))
	if c.Whole {
		v = math.Trunc(v)
	}
	c.value = v
}

// step returns by how much to change the value. With Margin it is base · clamp(⌊m·most⌋, 1, most) for the smallest margin m of all conditions, or
// base alone if no margin is known. With Percent it is that percentage of the value, rounded up, at least 1.
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

// tightest returns the smallest margin and the key of its condition; "" = no condition has one.
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
