package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/report/artifact"
	htmlpage "aiperf/internal/report/htmlreport"
	"aiperf/internal/series/gate"
)

// worseStatus and cannotStatus are the exit statuses for the outcomes that --fail-on names.
const (
	worseStatus  = 3
	cannotStatus = 4
)

// compareCommand builds the command that compares finished runs.
func (p *Program) compareCommand() *cobra.Command {
	var with, objectives []string
	var noise, failOn, file, html string
	var confidence float64
	var skip durationValue
	var margins, metrics []string
	var judging gateOptions
	o := comparison.Options{}
	cmd := &cobra.Command{
		Use: "compare A B | compare A [A...] --with B [--with B...]", Short: "comparison of two finished runs, or of two sets of runs",
		Long: "Reads the records of finished runs and reports for every statistic whether B is the same as A, better, worse, or whether the data cannot tell. " +
			"A directory of repetitions means all its runs; several runs on each side give a sharper answer. Requests of one run are not treated as independent. " +
			"Two sweeps or searches are compared cell by cell, matched by name; the confidence level then covers all cells together.",
		Example: "  aiperf compare artifacts/before artifacts/after\n  aiperf compare before/ --with after/ --margin 3% --fail-on worse",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			first := words
			if len(with) == 0 {
				if len(words) != 2 {
					return fmt.Errorf("compare needs the directories of two runs, not %d; write aiperf compare BEFORE AFTER, or --with for several runs on a side", len(words))
				}
				first, with = words[:1], words[1:]
			}
			if slices.Contains(slices.Concat(first, with), "") {
				return fmt.Errorf("the name of a directory is empty")
			}
			if _, err := gate.Parsed(judging.failIf); err != nil {
				return fmt.Errorf("--fail-if: %w", resolve.GateError(err))
			}
			conditions, err := resolve.FailConditions(objectives)
			if err != nil {
				return fmt.Errorf("--objective: %w", err)
			}
			judging.failIf = append(judging.failIf, conditions...)
			if judging.AllowInvalid = o.Invalid; o.Invalid && judging.Verdict {
				return errVerdictAllowed
			}
			if err := o.SetMargins(margins); err != nil {
				return fmt.Errorf("--margin: %w", err)
			}
			for _, list := range metrics {
				o.Metrics = append(o.Metrics, strings.Split(list, ",")...)
			}
			if err := o.CheckMetrics(); err != nil {
				return fmt.Errorf("--metrics: %w", err)
			}
			if o.Noise, err = comparison.Percent(noise); err != nil {
				return fmt.Errorf("--run-noise: %w", err)
			}
			if o.Confidence = confidence; !(confidence > 0.5 && confidence < 1) {
				return fmt.Errorf("--confidence %g is not above 0.5 and below 1", confidence)
			}
			if err := checkFailOn(failOn); err != nil {
				return err
			}
			series, err := comparison.IsSeries(slices.Concat(first, with))
			if err != nil {
				return err
			}
			out := comparisonOutput{file: file, html: html, failOn: failOn}
			if series {
				s, err := comparison.CompareSeries(first, with, float64(skip), o)
				if err != nil {
					return err
				}
				return p.printSeries(s, &out, &judging)
			}
			r, err := compared(first, with, float64(skip), o)
			if err != nil {
				return err
			}
			code, err := p.writeComparison(r, &out)
			if err != nil {
				return err
			}
			return p.judgeSides([]side{{"B", r.B}}, &judging, code)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&with, "with", nil, "run directory of the other side; may be repeated")
	f.StringArrayVar(&margins, "margin", nil, "largest difference that does not matter, or tag:stat:X% for one statistic (default 5%; p90 and p99 twice; errors 0.5 points)")
	f.StringArrayVar(&metrics, "metrics", nil, "statistics to compare (tag:stat,…); fewer make each test stronger")
	f.Var(&skip, "skip-start", "time skipped at the start of each run, in s (or 500ms, 2m)")
	f.StringVar(&noise, "run-noise", "1%", "assumed run-to-run noise, with only one run on each side")
	f.Float64Var(&confidence, "confidence", 0.95, "confidence level of the intervals and of the overall result")
	f.StringVar(&failOn, "fail-on", "", "worse: status 3 if a metric is worse; cannot-tell: status 4 if undecided")
	f.StringArrayVar(&objectives, "objective", nil, "status 3 unless this holds for B: ttft:p99<200ms, p95(e2e)<2s, error_rate<1%; may be repeated")
	f.StringArrayVar(&judging.failIf, "fail-if", nil, "status 3 if this holds for B or is undecided: time_to_first_token:p99>200, error_rate>1 (percent); may be repeated")
	f.BoolVar(&judging.Verdict, "fail-on-verdict", false, "status 3 unless every run of B is valid or server limited")
	f.StringVar(&judging.junit, "junit", "", "write the --fail-if results as JUnit XML")
	f.StringVar(&file, "json", "", "write the comparison to this file")
	f.StringVar(&html, "html", "", "write the comparison to this self-contained HTML page")
	f.BoolVar(&o.Different, "allow-different-work", false, "judge runs whose load or endpoint differs")
	f.BoolVar(&o.Invalid, "allow-invalid", false, "show runs that were cut short or limited by the client, and judge --fail-if by the stated values")
	return cmd
}

// side is a set of runs that gates judge.
type side struct {
	name string
	runs []comparison.Run
}

// judgeSides judges runs by their summaries. code is the exit status without gates. Without gates and an output file it reads nothing.
func (p *Program) judgeSides(sides []side, g *gateOptions, code int) error {
	if !g.requested() {
		return status(code)
	}
	var subjects []gate.Subject
	for _, s := range sides {
		one := gate.Subject{Name: s.name}
		for i := range s.runs {
			run, err := artifact.ReadSummary(artifact.NewLayout(s.runs[i].Path, "").SummaryJSON())
			if err != nil {
				return fmt.Errorf("--fail-if: %w", err)
			}
			one.Runs, one.Interrupted = append(one.Runs, run), one.Interrupted || run.Cancelled
		}
		subjects = append(subjects, one)
	}
	code, err := p.gates(g).Judge(subjects, code)
	if err != nil {
		return err
	}
	return status(code)
}

// checkFailOn refuses unknown words of --fail-on.
func checkFailOn(words string) error {
	for word := range strings.SplitSeq(words, ",") {
		if word != "" && word != "worse" && word != "cannot-tell" {
			return fmt.Errorf("--fail-on: %q is unknown; write worse, cannot-tell or worse,cannot-tell", word)
		}
	}
	return nil
}

// compared loads both sides and compares them.
func compared(first, second []string, skip float64, o comparison.Options) (*comparison.Result, error) {
	sides := make([][]comparison.Run, 2)
	seen := map[string]bool{}
	for i, paths := range [][]string{first, second} {
		for _, path := range paths {
			runs, err := comparison.Load(path, skip)
			if err != nil {
				return nil, err
			}
			for _, r := range runs {
				if seen[r.Path] {
					return nil, fmt.Errorf("%s is listed twice", r.Path)
				}
				seen[r.Path] = true
			}
			sides[i] = append(sides[i], runs...)
		}
	}
	return comparison.Compare(sides[0], sides[1], o)
}

// comparisonOutput says where a comparison is written besides the terminal, and when the command fails.
type comparisonOutput struct {
	file, html string // "" = none
	failOn     string
}

// status returns the exit status of a comparison; cannot = some metric could not be compared.
func (t *comparisonOutput) status(outcome comparison.Outcome, cannot bool) int {
	switch {
	case strings.Contains(t.failOn, "worse") && outcome == comparison.Worse:
		return worseStatus
	case strings.Contains(t.failOn, "cannot-tell") && cannot:
		return cannotStatus
	}
	return 0
}

// files writes the page and the JSON of a comparison.
func (p *Program) files(t *comparisonOutput, page, text func() ([]byte, error)) error {
	for _, f := range []struct {
		flag, path string
		make       func() ([]byte, error)
	}{{"--html", t.html, page}, {"--json", t.file, text}} {
		if f.path == "" {
			continue
		}
		made, err := f.make()
		if err == nil {
			err = artifact.WriteFile(f.path, made)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
		if f.flag == "--html" {
			fmt.Fprintf(p.Err, "HTML Report: %s\n", f.path)
		}
	}
	return nil
}

// writeComparison writes a comparison to the terminal and to files, and returns the exit status.
func (p *Program) writeComparison(r *comparison.Result, t *comparisonOutput) (int, error) {
	p.sides(r)
	p.remarks(r)
	for _, line := range r.Brief() {
		p.line("%s", line)
	}
	fmt.Fprintln(p.Out)
	if err := r.WriteTable(p.Out, p.Width); err != nil {
		return 1, err
	}
	fmt.Fprintln(p.Out)
	if r.Refused != "" {
		p.line("No judgement: %s. Run again with --pairs %d. --allow-invalid also counts pairs that are not valid.", r.Refused, r.MorePairs)
	} else {
		p.line("%s: %s", r.Basis, r.Outcome)
	}
	p.assumed(r)
	err := p.files(t, func() ([]byte, error) { return htmlpage.Compare(r, Version()) }, r.JSON)
	return t.status(r.Outcome, r.Undecided()), err
}

// line writes a line of a comparison; on a terminal it is wrapped with indentation.
func (p *Program) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.Width > 0 {
		text = terminal.Hang(text, p.Width, 2)
	}
	fmt.Fprintln(p.Out, text)
}

// sides prints what A and B are: what they measured, with their names before it if that is the same or not known of one.
func (p *Program) sides(r *comparison.Result) {
	a, b := comparison.Described(r.A), comparison.Described(r.B)
	if nameA, nameB := r.Sides(); a == b || a == "" || b == "" {
		a, b = strings.TrimSuffix(nameA+", "+a, ", "), strings.TrimSuffix(nameB+", "+b, ", ")
	}
	p.line("A: %s", a)
	p.line("B: %s", b)
}

// remarks prints what a reader of a comparison must know first.
func (p *Program) remarks(r *comparison.Result) {
	for _, d := range r.Other {
		p.line("Differs: %s", d)
	}
	for _, n := range r.Notes {
		p.line("Note: %s.", n)
	}
}

// assumed prints the assumptions.
func (p *Program) assumed(r *comparison.Result) {
	if r.Basis == "one run each" && r.Options.Noise > 0 {
		p.line("Run-to-run noise of %g %% is assumed; several runs on each side would measure it.", 100*r.Options.Noise)
	}
}

// printSeries prints a comparison cell by cell; only differences are described in words.
func (p *Program) printSeries(s *comparison.Series, t *comparisonOutput, g *gateOptions) error {
	for _, one := range []struct {
		name  string
		cells []string
	}{{"A", s.OnlyA}, {"B", s.OnlyB}} {
		if len(one.cells) > 0 {
			p.line("Only in %s: %s", one.name, strings.Join(one.cells, ", "))
		}
	}
	cannot := false
	var sides []side
	for k := range s.Cells {
		c := &s.Cells[k]
		sides = append(sides, side{c.Name, c.B})
		fmt.Fprintf(p.Out, "\n%s\n", c.Name)
		if c.Refused != "" {
			p.line("Not judged: %s.", c.Refused)
			cannot = true
			continue
		}
		p.remarks(c.Result)
		for _, l := range c.Worst() {
			if l.Outcome == comparison.Better || l.Outcome == comparison.Worse {
				p.line("%s", l.Sentence(c.Options.Confidence))
			}
		}
		if err := c.WriteTable(p.Out, p.Width); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "%s, %s: %s\n", c.Name, c.Basis, c.Outcome)
		cannot = cannot || c.Undecided()
	}
	fmt.Fprintf(p.Out, "\n%s: %s\n", s.Sentence(), s.Outcome)
	p.assumed(s.FirstJudged())
	if err := p.files(t, func() ([]byte, error) { return htmlpage.CompareSeries(s, Version()) }, s.JSON); err != nil {
		return err
	}
	return p.judgeSides(sides, g, t.status(s.Outcome, cannot))
}
