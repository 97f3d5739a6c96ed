package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Sought is what a phase found whose load seeks its limit: every window that was judged, and the answer. Plain data.
type Sought struct {
	Phase    string
	Variable string   // what was moved: concurrency, prefill_concurrency, request_rate, users
	Levels   []string // the conditions of the service level, in words; times in ms
	Windows  []SoughtWindow
	Kept     float64 // the value that kept the level last; NaN = none did
	Broke    float64 // the first value that broke it; NaN = none did
	Why      string  // why the phase ended, as the files say it (artifacts, adaptive_scale_summary.json); "" = it did not end
}

// SoughtWindow is one window: the load, what it brought, what followed.
type SoughtWindow struct {
	End              time.Duration // since the phase began
	Load             float64
	Requests, Errors int64
	Values           []float64 // of the conditions, in their order; NaN = there is none
	Level            string    // kept, broken, or open: nothing could be judged
	Held             bool      // the boundary was known, and is tried for longer
	Next             float64   // the load after it
}

// Load is a value of what was moved.
func (s *Sought) Load(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Name is what was moved, in words.
func (s *Sought) Name() string { return strings.ReplaceAll(s.Variable, "_", " ") }

// Then is what followed a window, in words.
func (s *Sought) Then(i int) string {
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

// Answer is what was found, in a sentence.
func (s *Sought) Answer() string {
	value := func(v float64) string { return s.Name() + " " + s.Load(v) }
	kept, broke := "no value has kept the service level", ""
	if !math.IsNaN(s.Kept) {
		kept = value(s.Kept) + " kept the service level in its last window"
	}
	if !math.IsNaN(s.Broke) {
		broke = "; " + s.Load(s.Broke) + " broke it"
	}
	switch s.Why {
	case "sustain_duration_completed":
		return "The limit: " + value(s.Kept) + " kept the service level to the end of the time for which it was to be held" + broke + "."
	case "max_control_value_reached_without_saturation":
		return "The limit was not reached: " + value(s.Kept) + ", the highest value allowed, keeps the service level."
	case "no_sustainable_concurrency_found":
		return "There is no limit to find: " + value(s.Broke) + ", the lowest value, breaks the service level."
	case "sustain_failed_sla_unrecoverable", "sustain_failed_after_recovery":
		return "No lasting limit: the service level broke again while " + s.Name() + " was held" + broke + "."
	case "":
		return fmt.Sprintf("The search did not come to its end: %s%s.", kept, broke)
	}
	return fmt.Sprintf("The phase ended before the search: %s%s.", kept, broke)
}
