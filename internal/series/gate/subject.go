package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/measure/metric"
)

// Subject is what is judged: a run, or a cell of a sweep.
type Subject struct {
	Name string // "" = the only run
	Runs []*metric.Run
	// Fault says why there is no result, or not for every run; empty = there is one.
	Fault string
	// Interrupted means that the user stopped the runs before their end, or before they began.
	Interrupted bool
}

// Doubt says why the figures of a subject cannot be trusted as a whole, whatever their ranges; "" = they can. Either the client was the limit or did
// not offer the load, or a cache was warm. Runs without a verdict, such as those of the Python tool, are trusted.
func (s *Subject) Doubt() string {
	if s.Interrupted {
		return cmp.Or(s.Fault, "the run was interrupted before its end")
	}
	measured := len(s.Runs) > 0
	for _, run := range s.Runs {
		if run.IncompleteReason != "" {
			return "the run is not complete: " + run.IncompleteReason
		}
		switch v := run.Validity; {
		case v == nil:
		case v.ClientDoubt() == metric.ClientMayBeLimit:
			return v.ClientDoubt()
		case v.Verdict == metric.VerdictClientLimited || v.Verdict == metric.VerdictRateNotReached || v.RateMissed():
			return fmt.Sprintf("the verdict is %q", v.Verdict)
		case v.Warm(): // the measurement does not show a server with a cold cache; uncertain latencies have ranges
			return "a prefix cache was warm before the run"
		case v.Unread() != "":
			return v.Unread()
		}
		measured = measured && run.Profiling.Valid > 0
	}
	if s.Fault != "" && measured {
		return "another run has no result: " + s.Fault
	}
	return ""
}

// any reports whether a run with a verdict has a property.
func (s *Subject) any(has func(v *metric.Validity) bool) bool {
	return slices.ContainsFunc(s.Runs, func(run *metric.Run) bool { return run.Validity != nil && has(run.Validity) })
}

// remedy returns what may decide a gate of the subject that is undecided; r is the range of its value.
func (s *Subject) remedy(r metric.Range) Remedy {
	switch {
	case s.Doubt() != "":
		if !s.Interrupted && s.any(func(v *metric.Validity) bool { return v.ClientDoubt() != "" }) { // interrupted runs have to be repeated for another reason
			return QuieterMachine
		}
		return RemoveCause
	case math.IsInf(r.High, 1) && s.any(func(v *metric.Validity) bool { return v.CutCount+v.TimedOut+v.Planned > 0 }):
		return AwaitAnswers
	case s.any(func(v *metric.Validity) bool { return v.Polled > 0 }):
		return PollMoreOften
	}
	return QuieterMachine
}

// verdictGate is the gate on the verdict itself.
var verdictGate = Gate{Text: "verdict", Tag: "verdict"}

// verdict returns the result of the gate on the verdict: it fails unless every run is valid or limited by its server. A run without a verdict is
// undecided.
func (s *Subject) verdict() Result {
	r := Result{Gate: &verdictGate, Subject: s.Name, Value: math.NaN(), Outcome: Passed}
	if r.Doubt = s.Fault; s.Interrupted || len(s.Runs) == 0 {
		r.Outcome = Undecided
		return r
	}
	for _, run := range s.Runs {
		switch v := run.Validity; {
		case v == nil:
			r.Outcome, r.Doubt = Undecided, "a run has no verdict"
		case v.Verdict != metric.VerdictValid && v.Verdict != metric.VerdictServerLimited:
			r.Outcome, r.Doubt = Failed, v.Sentence()
			return r
		}
	}
	return r
}

// verdicts returns the distinct verdicts of the runs of a subject in order of appearance; "" if no run has one.
func (s *Subject) verdicts() string {
	var list []string
	seen := map[metric.Verdict]bool{}
	for _, run := range s.Runs {
		if v := run.Validity; v != nil && v.Verdict != "" && !seen[v.Verdict] {
			seen[v.Verdict] = true
			list = append(list, string(v.Verdict))
		}
	}
	if s.Interrupted {
		list = append(list, "interrupted")
	}
	return strings.Join(list, ", ")
}

// seconds returns the total duration of the runs of a subject.
func (s *Subject) seconds() (sum float64) {
	for _, r := range s.Runs {
		sum += max(0, r.End.Sub(r.Start).Seconds())
	}
	return sum
}
