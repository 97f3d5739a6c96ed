package plan

import (
	"fmt"
	"io"
	"math"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// tier is a named service level of a search: its own conditions after those that apply to all.
type tier struct {
	label      string
	conditions []metric.Condition
}

// tiersOf returns the named service levels of a search; none if it has none.
func tiersOf(s *config.Sweep, all []metric.Condition) (list []tier, err error) {
	for _, t := range s.SLATiers {
		own, err := conditions(t.Filters)
		if err != nil {
			return nil, fmt.Errorf("sla_tiers %s: %w", t.Label, err)
		}
		list = append(list, tier{t.Label, append(append([]metric.Condition{}, all...), own...)})
	}
	return list, nil
}

// tierSearch searches for the boundary of every service level at once: each cell is evidence for all of them. The next cell is the one for the level
// with the widest gap between its last pass and its first failure. Levels without a failure come first, because their cells add the most information.
type tierSearch struct {
	each boundary
	n    int // number of levels
}

// seenBy returns the cells as one level sees them, without those that do not count for it.
func seenBy(seen []probe, k int) (list []probe) {
	for _, p := range seen {
		if p.verdict = p.tiers[k]; p.doubt == "" {
			list = append(list, p)
		}
	}
	return list
}

func (t tierSearch) next(seen []probe) (next []float64, done string) {
	widest := math.Inf(-1)
	for k := range t.n {
		own := seenBy(seen, k)
		x, over := t.each.next(own)
		if over != "" {
			continue
		}
		pass, fail, _, _ := t.each.bracket(own)
		gap := math.Inf(1)
		if !math.IsInf(pass, 0) && !math.IsInf(fail, 0) {
			gap = (fail - pass) / fail
		}
		if next == nil || gap > widest {
			next, widest = x, gap
		}
	}
	if next == nil {
		return nil, "every tier is settled"
	}
	return next, ""
}

// tierResult is the result of a search for one level, in the format of the history file.
type tierResult struct {
	Label    string             `json:"label"`
	Boundary *float64           `json:"boundary_concurrency"` // highest value that meets the level, for any swept setting
	Status   string             `json:"convergence_status"`
	Reason   string             `json:"convergence_reason"`
	Binding  *string            `json:"binding_constraint"` // condition that the first failure violated
	Lower    *float64           `json:"bracket_lower"`
	Upper    *float64           `json:"bracket_upper"`
	Probes   int                `json:"probe_count"`
	Filters  []config.SLAFilter `json:"filters"`
}

// tierResults returns the results of all levels.
func (q *search) tierResults() (list []tierResult) {
	b := boundaryOf(q.run.Sweep)
	for k, t := range q.tiers {
		own := seenBy(q.evidence(), k)
		pass, fail, _, _ := b.bracket(own)
		_, reason := b.next(own)
		r := tierResult{Label: t.label, Status: "converged", Reason: reason, Probes: len(own), Filters: q.run.Sweep.SLATiers[k].Filters}
		if !math.IsInf(pass, 0) {
			r.Boundary, r.Lower = &pass, &pass
		}
		if !math.IsInf(fail, 0) {
			r.Upper = &fail
			for _, p := range own {
				if !p.feasible && p.values[0] == fail && p.breach != nil {
					said := p.breach.String()
					r.Binding = &said
				}
			}
		}
		switch {
		case r.Boundary == nil:
			r.Status = "no_pass_in_range"
		case r.Upper == nil && reason != "":
			r.Status = "no_failure_in_range"
		case reason == "":
			r.Status, r.Reason = "partial", "the search ended before"
		}
		list = append(list, r)
	}
	return list
}

// sayTiers reports the result for every level; found counts those that some cell meets.
func (q *search) sayTiers(w io.Writer) (found int) {
	path := q.run.Sweep.SearchSpace[0].Path
	for _, r := range q.tierResults() {
		if r.Boundary == nil {
			fmt.Fprintf(w, "Tier %s: no cell meets it", terminal.Line(r.Label))
		} else {
			found++
			fmt.Fprintf(w, "Tier %s: %s %s", terminal.Line(r.Label), path, terminal.Figure(*r.Boundary))
		}
		if r.Upper != nil {
			fmt.Fprintf(w, ", broken at %s", terminal.Figure(*r.Upper))
		}
		if r.Binding != nil {
			fmt.Fprintf(w, " (%s)", terminal.Line(*r.Binding))
		}
		fmt.Fprintf(w, "; %s\n", r.Reason)
	}
	return found
}
