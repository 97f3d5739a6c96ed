package comparison

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/config"
)

// sameRun returns an error if a run occurs twice, which includes copies: they have the same benchmark id. With Options.Invalid it adds a note and
// withholds the judgement instead.
func (r *Result) sameRun() error {
	seen := map[string]string{}
	for _, side := range [][]Run{r.A, r.B} {
		for i := range side {
			run := &side[i]
			first, twice := seen[run.ID]
			if run.ID == "" || !twice {
				seen[run.ID] = run.Path
				continue
			}
			said := fmt.Sprintf("%s and %s are the same run (benchmark id %s)", first, run.Path, run.ID)
			if !r.Options.Invalid {
				return fmt.Errorf("%s. Compare two runs, or add %s to see the figures without a judgement", said, config.FlagOf("allow_invalid"))
			}
			r.Notes = append(r.Notes, said)
			r.withheld = "a run is listed twice"
		}
	}
	return nil
}

// machines adds a note if runs were measured from different client machines.
func (r *Result) machines() {
	of := func(side []Run) (list []string) {
		for i := range side {
			if m := side[i].Machine; m != "" && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
		slices.Sort(list)
		return list
	}
	a, b := of(r.A), of(r.B)
	if len(a) == 0 || len(b) == 0 || len(a) == 1 && len(b) == 1 && a[0] == b[0] {
		return
	}
	if slices.Equal(a, b) {
		r.Notes = append(r.Notes, fmt.Sprintf("each side was measured from several client machines (%s): the latencies include their CPUs and networks", strings.Join(a, "; ")))
		return
	}
	r.Notes = append(r.Notes, fmt.Sprintf("A and B were measured from different client machines (%s; %s): the latencies include their CPUs and networks", strings.Join(a, "; "), strings.Join(b, "; ")))
}

// cancellations adds a note if runs cancelled requests as their configuration asks: the report of a run counts these as errors.
func (r *Result) cancellations() {
	var parts []string
	for _, side := range []struct {
		name string
		runs []Run
	}{{"A", r.A}, {"B", r.B}} {
		cancelled, all := 0, 0
		for i := range side.runs {
			run := &side.runs[i]
			cancelled, all = cancelled+run.Cancelled, all+run.Cancelled+len(run.Ends)+run.Failed
		}
		if cancelled > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d in %s", cancelled, all, side.name))
		}
	}
	if len(parts) > 0 {
		r.Notes = append(r.Notes, "requests cancelled as the configuration asks are not errors here, unlike in the error rate of a report: "+strings.Join(parts, ", "))
	}
}
