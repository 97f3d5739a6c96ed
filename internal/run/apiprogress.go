package run

import (
	"math"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/metric"
	"aiperf/internal/workload/load"
)

// phaseProgress is the progress of a phase as the API reports it (extensibility, section 6.2). Instants are Unix ns; nil means not applicable or not
// yet known.
type phaseProgress struct {
	Phase               string   `json:"phase"`
	Start               *int64   `json:"start_ns"`
	SentEnd             *int64   `json:"sent_end_ns"`
	RequestsEnd         *int64   `json:"requests_end_ns"`
	RecordsEnd          *int64   `json:"records_end_ns"`
	TotalRequests       *int64   `json:"total_expected_requests"`
	ExpectedDuration    *float64 `json:"expected_duration_sec"`
	ExpectedSessions    *int64   `json:"expected_num_sessions"`
	ExpectedGrace       *float64 `json:"expected_grace_period_sec"`
	FinalSent           *int64   `json:"final_requests_sent"`
	FinalCompleted      *int64   `json:"final_requests_completed"`
	FinalCancelled      *int64   `json:"final_requests_cancelled"`
	FinalErrors         *int64   `json:"final_request_errors"`
	FinalSentSessions   *int64   `json:"final_sent_sessions"`
	FinalDoneSessions   *int64   `json:"final_completed_sessions"`
	FinalCutSessions    *int64   `json:"final_cancelled_sessions"`
	TimedOut            bool     `json:"timeout_triggered"`
	GraceExpired        bool     `json:"grace_period_timeout_triggered"`
	Cancelled           bool     `json:"was_cancelled"`
	Sent                int64    `json:"requests_sent"`
	Completed           int64    `json:"requests_completed"` // errors included
	Cut                 int64    `json:"requests_cancelled"`
	Errors              int64    `json:"request_errors"`
	SentSessions        int64    `json:"sent_sessions"`
	DoneSessions        int64    `json:"completed_sessions"`
	CutSessions         int64    `json:"cancelled_sessions"`
	Turns               *int64   `json:"total_session_turns"`
	GoodRecords         int64    `json:"success_records"`
	ErrorRecords        int64    `json:"error_records"`
	RequestsPerSecond   *float64 `json:"requests_per_second"`
	RecordsPerSecond    *float64 `json:"records_per_second"`
	RequestsSecondsLeft *float64 `json:"requests_eta_sec"`
	RecordsSecondsLeft  *float64 `json:"records_eta_sec"`
	LastUpdate          int64    `json:"last_update_ns"`
}

// progress returns the progress of the phases that have begun, by their names.
func (t *apiState) progress() any {
	phases := map[string]*phaseProgress{}
	if g := t.load.Load(); g != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, s := range (*g).Snapshots() {
			var rows [2]int64
			if c := t.counts[s.Info.Index]; c != nil {
				rows = *c
			}
			p := progressOf(&s, t.ended[s.Info.Index], rows, clock.Now())
			p.RecordsEnd = t.recordsEnd(s.Info.Index, t.ended[s.Info.Index])
			phases[s.Info.Name] = p
		}
	}
	return map[string]any{"phases": phases}
}

// recordsEnd returns the instant at which the last record of a finished phase was processed; nil while records are missing.
func (t *apiState) recordsEnd(phase int, end *load.PhaseStats) *int64 {
	var rows int64
	if c := t.counts[phase]; c != nil {
		rows = c[0] + c[1]
	}
	if end == nil || rows < end.Completed {
		return nil
	}
	return wallOf(max(end.Ended, t.worked[phase]))
}

// progressOf returns the progress of a phase. end is nil until the phase is over; rows are the numbers of successful and failed requests that have
// been processed; now is an instant of package clock.
func progressOf(s *load.Snapshot, end *load.PhaseStats, rows [2]int64, now int64) *phaseProgress {
	p := &phaseProgress{
		Phase: s.Info.Name, Start: wallOf(s.Started), SentEnd: wallOf(s.SentAll), RequestsEnd: wallOf(s.Ended),
		TotalRequests: positive(s.Phase.Requests), ExpectedSessions: positive(s.Phase.Sessions),
		Sent: s.Sent, Completed: s.Completed, Cut: s.Cancelled, Errors: s.Errors, SentSessions: s.Sessions, DoneSessions: s.Finished, CutSessions: s.Cut,
		Turns: pointerTo(s.Turns), GoodRecords: rows[0], ErrorRecords: rows[1], LastUpdate: clock.Wall(now),
	}
	if d := s.Phase.Duration; d > 0 {
		p.ExpectedDuration = pointerTo(d.Seconds())
		if s.Phase.Grace >= 0 {
			p.ExpectedGrace = pointerTo(s.Phase.Grace.Seconds())
		}
	}
	if s.SentAll != 0 {
		p.FinalSent, p.FinalSentSessions = pointerTo(s.Sent), pointerTo(s.Sessions)
	}
	until := now
	if end != nil {
		until = end.Ended
		p.FinalCompleted, p.FinalCancelled, p.FinalErrors = pointerTo(end.Completed), pointerTo(end.Cancelled), pointerTo(end.Errors)
		p.FinalDoneSessions, p.FinalCutSessions = pointerTo(end.SessionsCompleted), pointerTo(end.SessionsCancelled)
		p.TimedOut, p.GraceExpired, p.Cancelled = end.TimedOut, end.GraceExpired, end.Interrupted
	}
	passed := float64(until-s.Started) / 1e9
	if s.Started == 0 || passed <= 0 {
		return p
	}
	records := rows[0] + rows[1]
	p.RequestsPerSecond, p.RecordsPerSecond = pointerTo(float64(s.Completed)/passed), pointerTo(float64(records)/passed)
	if end != nil {
		p.RequestsSecondsLeft = pointerTo(0.0)
		if left := end.Completed - records; left <= 0 {
			p.RecordsSecondsLeft = pointerTo(0.0)
		}
		return p
	}
	left := math.Inf(1)
	if n := p.TotalRequests; n != nil && s.Completed > 0 {
		left = float64(max(0, *n-s.Completed)) * passed / float64(s.Completed)
	}
	if d := p.ExpectedDuration; d != nil {
		left = min(left, max(0, *d-passed))
	}
	if !math.IsInf(left, 1) {
		p.RequestsSecondsLeft = pointerTo(left)
	}
	return p
}

func pointerTo[T any](v T) *T { return &v }

// wallOf converts an instant of package clock to Unix ns; it returns nil for 0.
func wallOf(at int64) *int64 {
	if at == 0 {
		return nil
	}
	return pointerTo(clock.Wall(at))
}

func positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

// finalResults returns the results of a finished run.
func finalResults(run *metric.Run) any {
	records := []map[string]any{}
	for _, r := range run.Profiling.Shown() {
		m := map[string]any{"tag": r.Tag, "header": r.Header, "unit": r.Display}
		for s := metric.Avg; s < metric.Stats; s++ {
			if v := r.Values[s]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				m[s.String()] = v
			}
		}
		records = append(records, m)
	}
	errs := []map[string]any{}
	for _, g := range run.Profiling.Errors {
		errs = append(errs, map[string]any{"count": g.Count,
			"error_details": map[string]any{"code": g.Error.Code, "type": g.Error.Type, "message": g.Error.Message}})
	}
	p := run.Profiling
	return map[string]any{"errors": []any{}, "results": map[string]any{
		"records": records, "timeslice_metric_results": nil, "total_expected": nil, "completed": p.Valid + p.Failed, "start_ns": p.Window.From, "end_ns": p.Window.To,
		"was_cancelled": run.Cancelled, "error_summary": errs,
	}}
}
