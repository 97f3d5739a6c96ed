package adaptive

import (
	"encoding/json"
	"maps"
	"math"
	"time"
)

// schemaVersion is the version of the files' format.
const schemaVersion = 2

// Event is something that the controller observed or did.
type Event struct {
	Name   string
	Reason string
	Value  *float64           // value of the first condition; nil = none
	Values map[string]float64 // values of all conditions, by Key
	Passed *bool              // nil = nothing was judged
	Before float64            // load before the event
	Step   *float64           // change of the load

	at      time.Time
	c       *Controller
	figures figures
	// State of the controller at that moment.
	state                        state
	value                        float64
	boundary, lastPassed, failed *float64
	iteration                    int
}

// Now returns the load after the event.
func (e *Event) Now() float64 { return e.value }

// figures are the summary values of a window.
type figures struct {
	throughput                   float64
	completed, errors, cancelled int
}

func figuresOf(w *Window) figures {
	return figures{w.perSecond(float64(len(w.Requests))), len(w.Requests), w.Errors, w.Cancelled}
}

func (c *Controller) emitEvent(now time.Time, e *Event, w *Window) {
	e.at, e.c, e.figures = now, c, figuresOf(w)
	e.state, e.value, e.boundary, e.lastPassed, e.failed, e.iteration = c.at, c.value, c.boundary, c.lastPassed, c.firstFailed, c.iteration
	c.emit(e)
}

// Origin identifies the run and the phase of a file.
type Origin struct {
	BenchmarkID    string
	Phase          string
	Kind           string // profiling or warmup
	Index          int    // index among all phases
	ProfilingIndex int    // index among profiling phases; negative = not a profiling phase
	// Users returns the current number of users; nil = the load is not a number of users, or the number is unknown.
	Users func() int
}

// object is a JSON object; its keys are written in alphabetical order.
type object map[string]any

// place returns the keys that identify the phase of a file.
func (o *Origin) place() object {
	p := object{"phase_index": o.Index, "profiling_index": nil, "phase_name": o.Phase, "phase_kind": o.Kind}
	if o.ProfilingIndex >= 0 {
		p["profiling_index"] = o.ProfilingIndex
	}
	return p
}

// control returns the current and the wanted load.
func (o *Origin) control(value float64) object {
	if o.Users == nil {
		return object{"target_value": value, "actual_value": value}
	}
	n := o.Users()
	return object{"target_value": value, "actual_value": n, "active_users": n, "retiring_users": max(0, n-int(value)), "cancelled": 0}
}

// JSON returns the event's line, without the line feed.
func (e *Event) JSON(of *Origin) ([]byte, error) {
	first := e.c.Conditions[0]
	values := object{}
	for key, v := range e.Values {
		values[key] = known(v)
	}
	var binding any
	if _, key := e.c.tightest(e.Values); key != "" {
		binding = key
	}
	o := object{
		"schema_version": schemaVersion, "timestamp": e.at.UnixNano(), "timestamp_ns": e.at.UnixNano(), "timestamp_utc": utc(e.at),
		"event": e.Name, "phase": e.state, "reason": e.Reason, "strategy_type": Strategy, "step_policy": e.c.Policy,
		"control_variable": e.c.Variable, "control_value_before": e.Before, "control_value_after": e.value, "control_value": e.value, "control": of.control(e.value),
		"boundary_value": e.boundary, "last_passing_value": e.lastPassed, "first_failing_value": e.failed, "step_size": e.Step,
		"sla_metric": first.Metric, "sla_stat": first.Stat, "sla_op": first.Op, "sla_bound": first.Threshold, "sla_value": knownAt(e.Value), "sla_values": values,
		"sla_passed": e.Passed, "binding_sla": binding,
		"throughput": e.figures.throughput, "sample_count": e.figures.completed, "completed": e.figures.completed, "errored": e.figures.errors, "error_count": e.figures.errors,
		"cancelled": e.figures.cancelled, "sent": e.figures.completed + e.figures.errors + e.figures.cancelled, "in_flight": nil,
		"run_id": of.BenchmarkID, "phase_id": of.Phase, "phase_start_ts": nil, "phase_end_ts": nil, "fault_window_id": nil,
		"adaptive_iteration": e.iteration, "candidate_value": e.Before, "accepted_value": e.value,
	}
	maps.Copy(o, of.place())
	return json.Marshal(o)
}

// candidate is a window with its load.
type candidate struct {
	w         *Window
	value     float64
	iteration int
	rejected  string // reason for the rejection; "" = it was accepted
}

func (c *Controller) note(w *Window, rejected string) {
	c.candidates = append(c.candidates, candidate{w, c.value, c.iteration, rejected})
}

func (k *candidate) object() object {
	w, n := k.w, k.w.total()
	o := object{
		"adaptive_iteration": k.iteration, "candidate_value": k.value, "control_value": k.value, "start_ts": utc(w.From), "end_ts": utc(w.To),
		"duration_s": w.seconds(), "request_count": n, "error_count": w.Errors, "cancelled": w.Cancelled, "success_count": len(w.Requests),
		"success_rate": share(float64(len(w.Requests)), n), "throughput_rps": w.perSecond(float64(len(w.Requests))), "accepted": k.rejected == "", "rejection_reason": nil,
	}
	if k.rejected != "" {
		o["rejection_reason"] = k.rejected
	}
	for name, metric := range map[string]string{"latency": "request_latency", "ttft": "ttft", "itl": "itl"} {
		values := w.values(perRequest(metric))
		for _, stat := range []string{"p50", "p95", "p99", "avg"} {
			v := statistic(values, stat)
			if len(values) == 0 {
				v = 0
			}
			if stat != "avg" || name == "latency" {
				o[name+"_"+stat+"_ms"] = v
			}
		}
	}
	return o
}

// status returns how the phase ended.
func (c *Controller) status() string {
	switch c.reason {
	case AtMaximum:
		return "incomplete"
	case PhaseCut, NoneHolds, Unrecoverable, FailedAgain:
		return "failed"
	}
	return "completed"
}

// Summary returns the summary of a finished controller, as JSON.
func (c *Controller) Summary(of *Origin) ([]byte, error) {
	first, seen := c.Conditions[0], figuresOf(c.last)
	list := []object{}
	for i := range c.candidates {
		list = append(list, c.candidates[i].object())
	}
	o := object{
		"schema_version": schemaVersion, "status": c.status(), "completed_reason": c.reason,
		"control_variable": c.Variable, "control_value": c.value, "control": of.control(c.value),
		"boundary_value": c.boundary, "last_passing_value": c.lastPassed, "first_failing_value": c.firstFailed,
		"result":             object{"last_passing_value": c.lastPassed, "first_failing_value": c.firstFailed, "boundary_value": c.boundary},
		"sustain_started_at": nil, "sustain_duration_seconds": c.Sustain.Seconds(), "sustain_windows": c.windows, "sustain_passed_windows": c.windowsPassed,
		"sla_passed_during_sustain": c.windows > 0 && c.windowsPassed == c.windows,
		"sla_metric":                first.Metric, "sla_stat": first.Stat, "sla_op": first.Op, "sla_bound": first.Threshold,
		"sla":        object{"metric": first.Metric, "stat": first.Stat, "op": first.Op, "bound": first.Threshold},
		"totals":     object{"sent": seen.completed + seen.errors + seen.cancelled, "completed": seen.completed, "errored": seen.errors, "cancelled": seen.cancelled},
		"throughput": seen.throughput, "candidates": list, "strategy_type": Strategy, "step_policy": c.Policy, "base_step": c.BaseStep,
		"max_step_multiplier": c.MaxMultiplier, "step_percent": c.StepPercent,
	}
	if !c.sustainedFrom.IsZero() {
		o["sustain_started_at"] = c.sustainedFrom.UnixNano()
	}
	maps.Copy(o, of.place())
	return json.MarshalIndent(o, "", "  ")
}

// Manifest lists the adaptive phases of a run with their files, relative to the manifest's folder.
func Manifest(phases []Origin, events, summary func(phase string) string) ([]byte, error) {
	list := []object{}
	for i := range phases {
		o := phases[i].place()
		o["events_path"], o["summary_path"] = events(phases[i].Phase), summary(phases[i].Phase)
		list = append(list, o)
	}
	return json.MarshalIndent(object{"schema_version": schemaVersion, "adaptive_phases": list}, "", "  ")
}

// known returns a number that JSON can represent, otherwise null.
func known(v float64) any {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return v
}

func knownAt(v *float64) any {
	if v == nil {
		return nil
	}
	return known(*v)
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
