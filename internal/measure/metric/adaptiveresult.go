package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// AdaptiveResult is the result of an adaptive phase: every judged window, and the answer. It is plain data.
type AdaptiveResult struct {
	Phase    string
	Variable string   // the changed variable: concurrency, prefill_concurrency, request_rate, users
	Levels   []string // conditions of the service level, in words; times in ms
	Windows  []AdaptiveWindow
	LastGood float64 // the last value that met the level; NaN = none
	FirstBad float64 // the first value that violated it; NaN = none
	Why      string  // why the phase ended, as in the files (artifacts, adaptive_scale_summary.json); "" = it did not end
}

// AdaptiveWindow is one window: its load, its results, and the next step.
type AdaptiveWindow struct {
	End              time.Duration // since the start of the phase
	Load             float64
	Requests, Errors int64
	Values           []float64 // values of the conditions, in their order; NaN = missing
	Level            string    // "kept", "broken", or "open" if nothing could be judged
	Held             bool      // the limit was known, and this window tests it for longer
	Next             float64   // load of the next window
}

// Load formats a value of the variable.
func (s *AdaptiveResult) Load(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Name returns the name of the variable in words.
func (s *AdaptiveResult) Name() string { return strings.ReplaceAll(s.Variable, "_", " ") }

// NextStep describes the step after a window.
func (s *AdaptiveResult) NextStep(i int) string {
	w := &s.Windows[i]
	switch {
	case i == len(s.Windows)-1 && s.Why != "":
		return "end"
	case w.Next > w.Load:
		return "up to " + s.Load(w.Next)
	case w.Next < w.Load:
		return "down to " + s.Load(w.Next)
	}
	return "stay"
}

// Answer returns the result as a sentence.
func (s *AdaptiveResult) Answer() string {
	value := func(v float64) string { return s.Name() + " " + s.Load(v) }
	kept, broke := "no value has met the service level", ""
	if !math.IsNaN(s.LastGood) {
		kept = value(s.LastGood) + " met the service level in its last window"
	}
	if !math.IsNaN(s.FirstBad) {
		broke = "; " + s.Load(s.FirstBad) + " broke it"
	}
	switch s.Why {
	case "sustain_duration_completed":
		return "The limit: " + value(s.LastGood) + " met the service level until the end of the hold time" + broke + "."
	case "max_control_value_reached_without_saturation":
		return "The limit was not reached: " + value(s.LastGood) + ", the highest allowed value, meets the service level."
	case "no_sustainable_concurrency_found":
		return "No value meets the service level: " + value(s.FirstBad) + ", the lowest value, already misses it."
	case "sustain_failed_sla_unrecoverable", "sustain_failed_after_recovery":
		return "No stable limit: the service level was missed again while " + s.Name() + " was held" + broke + "."
	case "":
		return fmt.Sprintf("The search did not finish: %s%s.", kept, broke)
	}
	return fmt.Sprintf("The phase ended before the search: %s%s.", kept, broke)
}
