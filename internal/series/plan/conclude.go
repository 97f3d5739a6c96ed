package plan

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"text/tabwriter"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
)

// conclude writes and prints the statistics over all trials.
func (i *invocation) conclude(cells []config.Cell, trials []trial) (int, error) {
	byCell := make([][]*trial, len(cells))
	served := false // some trial left results, even if the user interrupted it and it does not count
	for k := range trials {
		t := &trials[k]
		byCell[t.cell] = append(byCell[t.cell], t)
		served = served || t.err == nil && t.run != nil && status(t.run) == 0
	}
	var errs []error
	for k := range cells {
		errs = append(errs, i.aggregate(&cells[k], byCell[k]))
	}
	if i.run.Sweep != nil && served {
		errs = append(errs, i.sweepFiles(cells, byCell), i.sweep(cells, byCell))
	}
	errs = append(errs, i.sayUnfinished(cells, byCell))
	code := 0
	if !served {
		code = 1
		errs = append(errs, errNothing)
	}
	code, err := i.judge(i.subjects(cells, byCell), code)
	return code, errors.Join(append(errs, err)...)
}

// aggregate writes the confidence intervals of one cell's trials.
func (i *invocation) aggregate(cell *config.Cell, trials []*trial) error {
	r := metric.RepeatSummary{
		Version: i.Version, Confidence: i.run.MultiRun.ConfidenceLevel, Runs: len(trials), Cooldown: float64(i.run.MultiRun.Cooldown),
	}
	if i.run.Sweep != nil {
		c := sweptCell(cell, nil, nil)
		r.Cell, r.Mode = &c, i.run.Sweep.IterationOrder
	}
	var runs []*metric.Run
	for _, t := range trials {
		label := runLabel(t.n)
		switch {
		case t.ok():
			runs = append(runs, t.run)
			r.Labels = append(r.Labels, label)
		default:
			r.Failed = append(r.Failed, metric.FailedRun{Label: label, Error: t.fault()})
		}
	}
	if len(runs) == 0 {
		return nil
	}
	if i.run.MultiRun.NumRuns > 1 && len(runs) == 1 {
		fmt.Fprintf(i.Err, "warning: one run of %d succeeded: there is no confidence interval\n", len(trials))
	}
	r.Values, r.Submission = metric.Repeat(runs, r.Confidence), metric.SubmissionOf(runs)
	if c := newConvergence(i.run); c != nil {
		v := c.test(trials)
		v.Sentence = c.sentence(&v, i.run.As, i.run.MultiRun.NumRuns)
		r.Convergence = &v
	}
	dir := i.aggregateDir(cell)
	if err := artifact.WriteAggregate(dir, &r); err != nil {
		return err
	}
	if i.run.MultiRun.Convergence != nil {
		if err := i.collate(dir, &r, trials); err != nil {
			return err
		}
	}
	if i.run.MultiRun.NumRuns < 2 {
		return nil
	}
	if i.run.Sweep == nil { // for a sweep, its own table shows the cells
		if err := i.printRepeats(trials, &r); err != nil {
			return err
		}
	}
	if err := i.printAggregate(cell, &r, dir); err != nil {
		return err
	}
	if r.Convergence != nil {
		_, err := fmt.Fprintln(i.Out, r.Convergence.Sentence)
		return ignoreGone(err)
	}
	return nil
}

// fault says why a trial has no result.
func (t *trial) fault() string {
	switch {
	case t.err != nil:
		return t.err.Error()
	case t.run == nil:
		return "not run"
	case t.run.IncompleteReason != "":
		return t.run.IncompleteReason
	}
	return "no request succeeded"
}

func (i *invocation) aggregateDir(cell *config.Cell) string {
	base := i.run.Artifacts.Dir
	switch {
	case i.run.Sweep == nil:
		return filepath.Join(base, "aggregate")
	case i.run.Sweep.IterationOrder == "independent":
		return filepath.Join(base, cell.Dir, "aggregate")
	}
	return filepath.Join(base, "aggregate", cell.Dir)
}

// headline lists the statistics in the final tables, with their names there.
var headline = []struct {
	tag  string
	stat metric.Stat
	name string
}{
	{"request_throughput", metric.Avg, "Requests"}, {"request_latency", metric.Avg, "Latency avg"}, {"request_latency", metric.P99, "Latency p99"},
	{"time_to_first_token", metric.Avg, "TTFT avg"}, {"time_to_first_token", metric.P99, "TTFT p99"}, {"inter_token_latency", metric.Avg, "ITL avg"},
	{"output_token_throughput", metric.Avg, "Output tokens"}, {"goodput", metric.Avg, "Goodput"},
}

// printAggregate prints the intervals of the main statistics.
func (i *invocation) printAggregate(cell *config.Cell, r *metric.RepeatSummary, dir string) error {
	title := fmt.Sprintf("%d of %s, %g %% confidence", len(r.Labels), terminal.Plural(r.Runs, "run"), 100*r.Confidence)
	if cell.Label != "" {
		title = terminal.Shorten(cellName(cell.Label), max(minNameWidth, lineWidth-len(title)-2)) + ": " + title
	}
	fmt.Fprintf(i.Out, "\n%s\n", title)
	w := tabwriter.NewWriter(i.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "metric\tmean\tlow\thigh\tcv %\tunit\t")
	for _, h := range headline {
		for k := range r.Values {
			if v := &r.Values[k]; v.Tag == h.tag && v.Stat == h.stat {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t\n", h.name, show(v.Mean), show(v.Low), show(v.High), show(100*v.CV), v.Display)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(i.Out, "Aggregate: %s\n", dir)
	return err
}

// meanOf returns the mean of a statistic over the successful trials of a cell, NaN if none has it.
func meanOf(trials []*trial, tag string, stat metric.Stat) float64 {
	sum, n := 0.0, 0
	for _, t := range trials {
		if !t.ok() {
			continue
		}
		if v := t.run.Profiling.Value(tag, stat); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

func show(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return terminal.Figure(v)
}
