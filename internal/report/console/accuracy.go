package console

import (
	"fmt"
	"strconv"

	"aiperf/internal/base/terminal"
)

// accuracy writes the grades of the answers: a row per task, then all tasks, and the confidence interval of the scores.
func (d *drawing) accuracy() {
	a := d.run.Accuracy
	if a == nil {
		return
	}
	overall := a.Overall()
	overall.Task = "OVERALL"
	scores := &table{title: "Accuracy Benchmark Results", head: []string{"Task", "Correct", "Total", "Unparsed", "Accuracy"}, leftAligned: []bool{true, false, false, false, false}}
	sure := &table{title: "Accuracy: 95 % confidence interval (Wilson)", head: []string{"Task", "From", "To"}, leftAligned: []bool{true, false, false}}
	percent := func(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }
	for _, s := range append(a.Tasks[:len(a.Tasks):len(a.Tasks)], overall) {
		count := func(n int64) string { return strconv.FormatInt(n, 10) }
		if !a.Scored(s) {
			continue
		}
		scores.rows = append(scores.rows, []string{s.Task, count(s.Correct), count(s.Total), count(s.Unparsed), percent(s.Rate())})
		low, high := s.Interval()
		sure.rows = append(sure.rows, []string{s.Task, percent(low), percent(high)})
	}
	if len(scores.rows) > 0 {
		d.print("\n")
		d.table(scores)
		d.print("\n")
		d.table(sure)
	}
	if a.Ungraded > 0 {
		d.panel("Answers without a grade", fmt.Sprintf("The grader %s failed at %s. No score counts them. The log has the reason.",
			a.Grader, terminal.Plural(a.Ungraded, "answer")))
	}
	if overall.Total > 0 && overall.Unparsed == overall.Total {
		d.panel("All answers unparsed", "None of the answers had the form that the grader "+a.Grader+" expects: each was guessed or missing. "+
			"The prompt, the output limit or the grader is probably wrong for this model.")
	}
}
