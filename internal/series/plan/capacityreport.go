package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/artifact"
	"aiperf/internal/series/capacity"
)

// unit returns the unit of the load.
func (t *target) unit() string {
	if t.users {
		return "users"
	}
	return "requests/s"
}

// point is a cell in the output file.
type point struct {
	*capacity.Cell
	Directory  string            `json:"directory"`
	Throughput *float64          `json:"request_throughput"` // completed, per s
	Quantiles  map[string]limits `json:"quantiles"`          // by objective
}

// curvePoint is a point of the knee curve.
type curvePoint struct {
	Load     float64 `json:"x"`
	Bad      float64 `json:"bad"`
	Isotonic float64 `json:"isotonic"` // share of bad requests, smoothed so that it never falls with the load
}

// limits is a figure with the ends of its interval; nil: that end does not exist.
type limits struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// confidence is the level of the intervals.
const confidence = 0.9

// points returns the cells in the order in which they ran.
func (t *target) points(a *capacity.Answer) []point {
	list := make([]point, len(a.Cells))
	for i := range list {
		p := point{Cell: &a.Cells[i], Quantiles: map[string]limits{}}
		if i < len(t.results) { // otherwise the user interrupted the cell
			r := &t.results[i]
			p.Directory, p.Throughput = r.dir, bounded(r.throughput)
			for name, e := range r.quantiles {
				low, high := e.Limits(confidence)
				p.Quantiles[name] = limits{bounded(e.Value), bounded(low), bounded(high)}
			}
		}
		list[i] = p
	}
	return list
}

// byLoad sorts points by load.
func byLoad(list []point) []point {
	list = slices.Clone(list)
	sorting.Stable(list, func(x, y point) int { return cmp.Compare(x.Load, y.Load) })
	return list
}

// knee returns the curve of the share of bad requests over the load, for drawing.
func knee(list []point) []curvePoint {
	var share, weights []float64
	out := []curvePoint{}
	for _, p := range byLoad(list) {
		if !p.Limited {
			share, weights = append(share, p.Bad), append(weights, p.Effective)
			out = append(out, curvePoint{Load: p.Load, Bad: p.Bad})
		}
	}
	for i, v := range capacity.Isotonic(share, weights) {
		out[i].Isotonic = v
	}
	return out
}

// bounded returns a figure for JSON; nil for NaN and infinity.
func bounded(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// report prints and writes the answer.
func (t *target) report(a *capacity.Answer, o *CapacityOptions) (int, error) {
	points := t.points(a)
	w := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tseconds\trequests\tbad %%\tstate\t", t.unit())
	for _, o := range t.objectives {
		if o.tag != errorRate {
			fmt.Fprintf(w, "%s (90 %% interval)\t", o.Name)
		}
	}
	fmt.Fprintln(w)
	for _, p := range byLoad(points) {
		t.line(w, &p)
	}
	if err := w.Flush(); err != nil {
		return 1, ignoreGone(err)
	}
	sentence, status := t.sentence(a, o)
	fmt.Fprintf(t.Out, "\n%s\n", sentence)
	text, err := t.json(a, points, sentence)
	if err != nil {
		return 1, err
	}
	path := filepath.Join(t.run.Artifacts.Dir, "capacity.json")
	err = artifact.WriteFile(path, text)
	if o.JSON != "" {
		err = errors.Join(err, artifact.WriteFile(o.JSON, text))
	}
	fmt.Fprintf(t.Out, "Result: %s\n", path)
	return status, err
}

// line writes a cell as a row of the table.
func (t *target) line(w *tabwriter.Writer, c *point) {
	state := string(c.State)
	if c.Limited {
		state = "client limited"
	}
	fmt.Fprintf(w, "%s\t%.0f\t%d\t%.2f\t%s\t", terminal.Figure(c.Load), c.Seconds, c.N, 100*c.Bad, state)
	for _, o := range t.objectives {
		if o.tag == errorRate {
			continue
		}
		q, ok := c.Quantiles[o.Name]
		if !ok || q.Value == nil {
			fmt.Fprint(w, "-\t")
			continue
		}
		high := "∞"
		if q.High != nil {
			high = terminal.Figure(*q.High)
		}
		low := "0"
		if q.Low != nil {
			low = terminal.Figure(*q.Low)
		}
		fmt.Fprintf(w, "%s (%s to %s)\t", terminal.Figure(*q.Value), low, high)
	}
	fmt.Fprintln(w)
}

// sentence returns the answer in words, and its exit status.
func (t *target) sentence(a *capacity.Answer, o *CapacityOptions) (string, int) {
	tail := ""
	if a.Failed > 0 {
		tail = fmt.Sprintf(" At %s %s the server's queue grows without limit.", terminal.Figure(a.Failed), t.unit())
	}
	tail += t.disturbed(a) + unstarted(a)
	took := terminal.Plural(len(a.Cells), "cell") + ", " + minutes(a.Seconds)
	switch {
	case a.Why == capacity.NotMet && a.Below.N > 0:
		return fmt.Sprintf("Not met even at low loads: %.3g %% of %s at up to %s %s missed %s (allowed: %.3g %%).%s", 100*a.Below.Bad, terminal.Plural(a.Below.N, "request"),
			terminal.Figure(a.Below.Highest), t.unit(), a.Binding, 100*a.Below.Allowed, t.disturbed(a)), notMet
	case a.Why == capacity.NotMet:
		return fmt.Sprintf("Not met even with %s: %s.", t.lowestLoad(a), a.Binding), notMet
	case a.Why == capacity.Unproven:
		return fmt.Sprintf("No result: not even low loads clearly met %s. %.3g %% of %s at up to %s %s missed it (allowed: %.3g %%). Search again with a cell size of %g.%s", a.Binding,
			100*a.Below.Bad, terminal.Plural(a.Below.N, "request"), terminal.Figure(a.Below.Highest), t.unit(), 100*a.Below.Allowed, 4*o.Size, t.disturbed(a)), bound
	case a.Why == capacity.Unsteady:
		return fmt.Sprintf("No result: the server changed during the search. It missed %s at loads that had met it before (see the steps in capacity.json). Wait until the server is steady, and search again.%s",
			a.Binding, t.disturbed(a)), bound
	case a.Why == capacity.Client && a.AtLeast == 0:
		return fmt.Sprintf("No result: at %s %s this client could not keep the schedule. Use more client cores or machines.", terminal.Figure(a.Ceiling), t.unit()), bound
	case a.Why == capacity.Client:
		return fmt.Sprintf("At least %s %s: at %s this client could not keep the schedule. Higher loads were not measured; use more client cores or machines.",
			terminal.Figure(a.AtLeast), t.unit(), terminal.Figure(a.Ceiling)), bound
	case a.Why == capacity.Disturbed && (a.Capacity == 0 || a.AtLeast == 0):
		return fmt.Sprintf("No result: this client could not keep even low loads any more, because another program uses its machine.%s", tail), bound
	case a.Capacity == 0 && a.AtLeast == 0:
		return fmt.Sprintf("No result for %s: no load clearly met or missed it in %s.%s", a.Binding, took, tail), bound
	case a.Capacity == 0:
		return fmt.Sprintf("At least %s %s meet %s: no step failed in %s.%s", terminal.Figure(a.AtLeast), t.unit(), a.Binding, took, tail), bound
	case a.Why != capacity.Settled && a.Low == 0:
		return fmt.Sprintf("Not precise enough after %s: below %s %s. No lower load has clearly met %s.%s%s", took, terminal.Figure(a.High), t.unit(), a.Binding, tail, t.more(a, o)), bound
	case a.Why != capacity.Settled:
		return fmt.Sprintf("Not precise enough after %s: between %s and %s %s.%s%s", took, terminal.Figure(a.Low), terminal.Figure(a.High), t.unit(), tail, t.more(a, o)), bound
	}
	return fmt.Sprintf("Capacity: %s %s meet %s (90 %% interval %s to %s). %s.%s", terminal.Figure(a.Capacity), t.unit(), a.Binding,
		terminal.Figure(a.Low), terminal.Figure(a.High), took, tail), 0
}

// lowestLoad names the load that already misses an objective.
func (t *target) lowestLoad(a *capacity.Answer) string {
	if len(a.Cells) == 0 {
		return "one user"
	}
	return fmt.Sprintf("%d users, one on each machine", t.fewest)
}

// disturbed says how many cells are not counted because of this client.
func (t *target) disturbed(a *capacity.Answer) string {
	n := 0
	for i := range a.Cells {
		if a.Cells[i].Limited {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return " One step was not counted, because this client could not send it on schedule."
	}
	return fmt.Sprintf(" %d steps were not counted, because this client could not send them on schedule.", n)
}

// unstarted says that the remaining time was too short for another cell.
func unstarted(a *capacity.Answer) string {
	if a.Needed == 0 {
		return ""
	}
	return fmt.Sprintf(" The remaining %.0f s were too short for another step (%.0f s).", math.Floor(a.Left), math.Ceil(a.Needed))
}

// more says how much time would settle a search that ran out of time: the width of an interval falls with the square root of the time (a rule of
// thumb).
func (t *target) more(a *capacity.Answer, o *CapacityOptions) string {
	if a.Why != capacity.Time || !(a.Low > 0) || math.IsInf(a.High, 0) || o.Precision <= 0 {
		return ""
	}
	wide := math.Log(a.High/a.Low) / (4 * o.Precision) // the stated interval is twice as wide as the posterior's, which should be twice the precision wide
	text := fmt.Sprintf(" Allow the search %.0f s.", 100*math.Ceil(o.Seconds*max(1.5, min(10, wide*wide))/100))
	if a.Alone >= 1 {
		text = fmt.Sprintf(" Requests are slow here (%.2g s);%s", a.Alone, text)
	}
	return text
}

// minutes formats a duration: 45 s, 4 min 43 s.
func minutes(seconds float64) string {
	n := int(math.Round(seconds))
	if n < 60 {
		return fmt.Sprintf("%d s", n)
	}
	return fmt.Sprintf("%d min %02d s", n/60, n%60)
}

// json returns the answer as a file; infinite ends are null.
func (t *target) json(a *capacity.Answer, points []point, sentence string) ([]byte, error) {
	end := func(v float64) *float64 {
		if v == 0 {
			return nil
		}
		return bounded(v)
	}
	vary := "rate"
	if t.users {
		vary = "concurrency"
	}
	var names []string
	for _, o := range t.objectives {
		names = append(names, strings.TrimSpace(o.text))
	}
	text, err := json.MarshalIndent(map[string]any{
		"schema_version": "1.0", "kind": "capacity", "objective": names, "vary": vary, "capacity": end(a.Capacity), "low": end(a.Low), "high": end(a.High),
		"at_least": end(a.AtLeast), "confidence": confidence, "binding": a.Binding, "why": a.Why, "seconds": a.Seconds, "client_ceiling": end(a.Ceiling),
		"cells": points, "curve": knee(points), "answer": sentence,
	}, "", "  ")
	return append(text, '\n'), err
}
