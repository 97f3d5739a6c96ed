package metric

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// CutUse describes the requests that the end of the run cut off. No metric includes them.
type CutUse struct {
	CutCount  int64         // number of these requests
	CutWaited time.Duration // longest time that one of them had waited
}

// cutWait holds how long a request had waited when it was cut off, in ns: a lower limit of its figures. 0 = it did not wait for that any more.
type cutWait struct {
	answer float64 // for the rest of its answer
	first  float64 // for its first token
}

// cutWaitOf returns how long a request of the class Cut had waited.
func cutWaitOf(rec *record.Record, reply *record.Reply) (wait cutWait) {
	if rec.Start <= 0 || rec.End <= rec.Start {
		return wait
	}
	age := float64(rec.End - rec.Start)
	if reply == nil || len(reply.Contents) == 0 {
		return cutWait{age, age}
	}
	if reply.FinishReason == "" { // otherwise only the end of the stream was missing
		wait.answer = age
	}
	return wait
}

// cutUse returns the number of requests that were cut off and the longest wait.
func (r *Reducer) cutUse() (use CutUse) {
	for _, w := range r.cuts {
		use.CutWaited = max(use.CutWaited, time.Duration(w.answer))
	}
	use.CutCount = r.counts[Cut]
	return use
}

// understatement is a statistic that would be larger if it included the requests that were cut off.
type understatement struct {
	tag     string
	stat    Stat
	atLeast float64 // in the metric's display unit
}

// understated returns the statistics that are certainly more than 4 % (and 50 µs) larger over all requests that were sent. The wait of a request that
// was cut off is the least value that it can have had.
func (r *Reducer) understated(t *totals) (list []understatement) {
	for _, of := range []struct {
		tag  string
		wait func(cutWait) float64
	}{
		{"time_to_first_token", func(w cutWait) float64 { return w.first }},
		{"request_latency", func(w cutWait) float64 { return w.answer }},
	} {
		pos := index[of.tag]
		if len(r.cuts) == 0 || !r.set.Uses(of.tag) || t.dist[pos].Count == 0 {
			continue
		}
		all := make([]float64, 0, r.rows+len(r.cuts))
		values := r.column(of.tag).Cursor()
		for range r.rows {
			if v := values.Next(); !math.IsNaN(v) {
				all = append(all, v)
			}
		}
		for _, w := range r.cuts {
			if wait := of.wait(w); wait > 0 {
				all = append(all, wait)
			}
		}
		d := stats.Describe(all)
		stated, least := distribution(&t.dist[pos], table[pos].Factor()), distribution(&d, table[pos].Factor())
		for _, stat := range []Stat{Avg, P1, P5, P10, P25, P50, P75, P90, P95, P99, Max} {
			if v := stated[stat]; least[stat]-v > max(certainRange*v, certainTime) {
				list = append(list, understatement{of.tag, stat, least[stat]})
			}
		}
	}
	return list
}

// openTop returns the ranges without an upper limit for the understated statistics. The share of good requests gets the range that it has over all
// requests: nobody knows whether those that were cut off would have been good.
func (s *Summary) openTop() Bounds {
	const share = "good_request_fraction"
	stated := s.Value(share, Avg)
	if len(s.understated) == 0 && (s.Cut == 0 || math.IsNaN(stated)) {
		return s.Bounds
	}
	b := Bounds{}
	for tag, of := range s.Bounds {
		for stat, r := range of {
			b.set(tag, stat, r.Low, r.High)
		}
	}
	if s.Cut > 0 && !math.IsNaN(stated) {
		of, finished, all := s.Bounds.Of(share, Avg, stated), float64(s.Valid+s.Failed), float64(s.Valid+s.Failed+s.Cut)
		b.set(share, Avg, of.Low*finished/all, max(of.High, (of.High*finished+float64(s.Cut))/all))
	}
	for _, u := range s.understated {
		stated := s.Value(u.tag, u.stat)
		b.set(u.tag, u.stat, s.Bounds.Of(u.tag, u.stat, stated).Low, math.Inf(1))
	}
	return b
}

// judgedUnderstatements returns the understated statistics that determine the verdict.
func (s *Summary) judgedUnderstatements() (list []understatement) {
	if s == nil {
		return nil
	}
	for _, u := range s.understated {
		if slices.Contains(judgedStats, u.stat) {
			list = append(list, u)
		}
	}
	return list
}

// isUnderstated reports whether a statistic would be larger with the requests that were cut off.
func (s *Summary) isUnderstated(tag string, stat Stat) bool {
	return slices.ContainsFunc(s.understated, func(u understatement) bool { return u.tag == tag && u.stat == stat })
}

// cutClause names the figures that leave out slow requests because the run ended before their answers.
func (e *ClientStats) cutClause(list []understatement) string {
	var clauses []string
	for i := 0; i < len(list); {
		tag, parts := list[i].tag, []string(nil)
		for ; i < len(list) && list[i].tag == tag; i++ {
			parts = append(parts, fmt.Sprintf("%s at least %s ms", list[i].stat, figure(list[i].atLeast, 3)))
		}
		clauses = append(clauses, fmt.Sprintf("%s (%s)", shortName(tag), strings.Join(parts, ", ")))
	}
	text := fmt.Sprintf("The end of the run cut off %s of %s, after up to %s. With them, these figures would be larger: %s.",
		terminal.Count(e.CutCount), terminal.Plural(e.Valid+e.Failed+e.CutCount, "request"), formatDuration(e.CutWaited), join(clauses))
	if !e.CancelledByUser {
		text += " A longer {phases.profiling.grace_period} waits for their answers."
	}
	return text
}

// cutNote says that requests were cut off; "" = so few that they do not matter.
func (e *ClientStats) cutNote() string {
	if total := e.Valid + e.Failed + e.CutCount; e.Valid > 0 && float64(e.CutCount) > failedShare*float64(total) {
		after := ""
		if e.CutWaited > 0 {
			after = ", after up to " + formatDuration(e.CutWaited)
		}
		return fmt.Sprintf("%s of %s were cut off at the end of the run%s. No metric includes them, so effective concurrency and the like are too low.",
			terminal.Count(e.CutCount), terminal.Plural(total, "request"), after)
	}
	return ""
}
