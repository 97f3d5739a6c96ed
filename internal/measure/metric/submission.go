package metric

import "slices"

// Submission states whether the run of a scenario is a valid submission, as metadata of the summary.
type Submission struct {
	Scenario string   `json:"scenario"`
	Valid    bool     `json:"submission_valid"`
	Reasons  []string `json:"submission_invalid_reasons,omitempty"` // why it is invalid
}

// Why a submission is invalid.
const (
	ReasonOverride  = "unsafe_override"
	ReasonOverflow  = "context_overflow_rate_exceeded"
	ReasonCancelled = "run_cancelled"
)

// maxOverflows is the maximum share of prompts that are too long for the model.
const maxOverflows = 0.01

// Submit judges the run of a scenario; unlocked means that settings violate its locks.
func (r *Run) Submit(scenario string, unlocked bool) {
	if scenario == "" {
		return
	}
	s := &Submission{Scenario: scenario}
	if unlocked {
		s.Reasons = append(s.Reasons, ReasonOverride)
	}
	over, _ := r.Profiling.Get("context_overflow_count")
	if n := float64(r.Profiling.Valid + r.Profiling.Failed); n > 0 && over.Values[Avg] > maxOverflows*n {
		s.Reasons = append(s.Reasons, ReasonOverflow)
	}
	if r.Cancelled {
		s.Reasons = append(s.Reasons, ReasonCancelled)
	}
	s.Valid = len(s.Reasons) == 0
	r.Submission = s
}

// SubmissionOf combines several runs: valid if all are; nil = they have no scenario.
func SubmissionOf(runs []*Run) *Submission {
	var all *Submission
	for _, run := range runs {
		one := run.Submission
		if one == nil {
			continue
		}
		if all == nil {
			all = &Submission{Scenario: one.Scenario, Valid: true}
		}
		all.Valid = all.Valid && one.Valid
		for _, reason := range one.Reasons {
			if !slices.Contains(all.Reasons, reason) {
				all.Reasons = append(all.Reasons, reason)
			}
		}
	}
	return all
}
