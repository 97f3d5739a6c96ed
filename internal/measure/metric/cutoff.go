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

// unansweredWait holds how long a request had waited when the client gave it up, in ns: a lower limit of its figures. 0 = it did not wait for that any
// more.
type unansweredWait struct {
	answer float64 // for the rest of its answer
	first  float64 // for its first token
}

// giveUp says why the client gave a request up.
type giveUp int

const (
	atEnd     giveUp = iota // the run was over: the class Cut
	atTimeout               // the client's own timeout was over
	asPlanned               // the run was asked to cancel some requests
	giveUps                 // number of reasons
)

// gaveUp adds a request that the client gave up.
func (r *Reducer) gaveUp(why giveUp, wait unansweredWait) {
	r.unanswered[why] = append(r.unanswered[why], wait)
}

// waited returns the longest time that one of the requests that were given up for a reason had waited for its answer.
func (r *Reducer) waited(why giveUp) (longest time.Duration) {
	for _, w := range r.unanswered[why] {
		longest = max(longest, time.Duration(w.answer))
	}
	return longest
}

// waitOf returns how long a request had waited that the client gave up: one of the class Cut, or one that ran into the client's timeout or was
// cancelled as planned.
func waitOf(rec *record.Record, reply *record.Reply) (wait unansweredWait) {
	age := float64(rec.End - rec.Start)
	if t := rec.Trace; t != nil {
		age -= float64(t.SendUncertainNs + t.EndUncertainNs)
	}
	if rec.Start <= 0 || age <= 0 {
		return wait
	}
	if reply == nil || len(reply.Contents) == 0 {
		return unansweredWait{age, age}
	}
	if reply.FinishReason == "" { // otherwise only the end of the stream was missing
		wait.answer = age
	}
	return wait
}

// understatement is a statistic that would be larger if it included the requests that the client gave up.
type understatement struct {
	tag     string
	stat    Stat
	atLeast float64 // in the metric's display unit
}

// understated returns the statistics that are certainly more than 4 % (and 50 µs) larger over all requests that were sent. The wait of a request that
// the client gave up is the least value that it can have had.
func (r *Reducer) understated(t *totals) (list []understatement) {
	waits := slices.Concat(r.unanswered[:]...)
	for _, of := range []struct {
		tag  string
		wait func(unansweredWait) float64
	}{
		{"time_to_first_token", func(w unansweredWait) float64 { return w.first }},
		{"request_latency", func(w unansweredWait) float64 { return w.answer }},
	} {
		pos := index[of.tag]
		if len(waits) == 0 || !r.set.Uses(of.tag) || t.dist[pos].Count == 0 {
			continue
		}
		all := r.lowest(of.tag)
		for _, w := range waits {
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

// lowest returns the lowest possible value of a metric for each request that has it, in ns.
func (r *Reducer) lowest(tag string) []float64 {
	if col := r.set.slot[index[tag]]; r.inexact(col) {
		low, _ := r.endsOf(col, nil, nil)
		return low
	}
	return r.known(tag)
}

// openTop returns the ranges with the understated statistics: from the least value over all requests, without an upper limit. The share of good
// requests gets the range that it has over all requests: nobody knows whether those that were cut off would have been good.
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
		b.set(u.tag, u.stat, u.atLeast, math.Inf(1))
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

// isUnderstated reports whether a statistic would be larger with the requests that the client gave up.
func (s *Summary) isUnderstated(tag string, stat Stat) bool {
	return slices.ContainsFunc(s.understated, func(u understatement) bool { return u.tag == tag && u.stat == stat })
}

// unansweredClause names the figures that leave out slow requests because the client gave them up: at the end of the run, at its timeout, or because
// the run was asked to cancel some requests.
func (e *ClientStats) unansweredClause(list []understatement) string {
	var clauses []string
	for i := 0; i < len(list); {
		tag, parts := list[i].tag, []string(nil)
		for ; i < len(list) && list[i].tag == tag; i++ {
			parts = append(parts, fmt.Sprintf("%s at least %s ms", list[i].stat, figure(list[i].atLeast, 3)))
		}
		clauses = append(clauses, fmt.Sprintf("%s (%s)", shortName(tag), strings.Join(parts, ", ")))
	}
	var text string
	if e.CutCount > 0 {
		text = fmt.Sprintf("The end of the run cut off %s of %s, after up to %s. ",
			terminal.Count(e.CutCount), terminal.Plural(e.Valid+e.Failed+e.CutCount, "request"), formatDuration(e.CutWaited))
	}
	if e.TimedOut > 0 {
		text += e.timeoutFact() + ". "
	}
	cancelled := e.cancelledSlow(list)
	if cancelled {
		text += e.cancelledFact() + ". "
	}
	text += "With them, these figures would be larger: " + join(clauses) + "."
	if e.CutCount > 0 && !e.CancelledByUser {
		text += " A longer {phases.profiling.grace_period} waits for their answers."
	}
	if e.TimedOut > 0 {
		text += " A longer {endpoint.timeout} shows how long the requests that timed out take."
	}
	if cancelled {
		text += " Requests that answer within {phases.profiling.cancellation.delay} are never cancelled, so fast ones are too frequent in the figures."
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
