package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/artifact"
	"aiperf/internal/comparison"
	"aiperf/internal/gate"
	htmlpage "aiperf/internal/page"
)

// worseStatus and cannotStatus are the exit statuses of a comparison that --fail-on names.
const (
	worseStatus  = 3
	cannotStatus = 4
)

// compareCommand compares finished runs.
func (p *Program) compareCommand() *cobra.Command {
	var with []string
	var noise, failOn, file, html string
	var confidence, skip float64
	var margins, metrics, failIf []string
	var junit string
	o := comparison.Options{}
	cmd := &cobra.Command{
		Use: "compare A B | compare A [A...] --with B [--with B...]", Short: "tell whether two finished runs, or two sets of runs, differ",
		Long: "Reads the records of finished runs and says of every statistic whether B is the same as A, better, worse, or cannot be told. " +
			"A directory of repetitions counts as its runs; several on each side tell more than one. Requests of one run are not taken for independent.",
		Example: "  aiperf compare artifacts/before artifacts/after\n  aiperf compare before/ --with after/ --margin 3% --fail-on worse",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			first := words
			if len(with) == 0 {
				if len(words) != 2 {
					return fmt.Errorf("compare takes two directories, or those of one side and --with for the other")
				}
				first, with = words[:1], words[1:]
			}
			if _, err := gate.Parsed(failIf); err != nil {
				return fmt.Errorf("--fail-if: %w", err)
			}
			var err error
			if err := o.SetMargins(margins); err != nil {
				return fmt.Errorf("--margin: %w", err)
			}
			for _, list := range metrics {
				o.Metrics = append(o.Metrics, strings.Split(list, ",")...)
			}
			if !(skip >= 0) {
				return fmt.Errorf("--skip-start %g is below 0", skip)
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
			r, err := compared(first, with, skip, o)
			if err != nil {
				return err
			}
			if err := p.comparisonPage(r, html); err != nil {
				return err
			}
			if err := p.writeComparison(r, file, failOn); err != nil || len(failIf) == 0 && junit == "" {
				return err
			}
			return p.judgeSide(r, failIf, junit)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&with, "with", nil, "a run of the other side; may be repeated")
	f.StringArrayVar(&margins, "margin", nil, "a difference that does not matter (5%; twice as much for p90 and p99; 0.5 points of errors), or tag:stat:X% of one statistic")
	f.StringArrayVar(&metrics, "metrics", nil, "tag:stat,… to compare in place of all; fewer tell more")
	f.Float64Var(&skip, "skip-start", 0, "seconds at the start of each run that are left out")
	f.StringVar(&noise, "run-noise", "1%", "how much runs of one server differ, where there is one run on each side")
	f.Float64Var(&confidence, "confidence", 0.95, "level of the intervals and of the whole")
	f.StringVar(&failOn, "fail-on", "", "worse: status 3 if a metric is; cannot-tell: status 4 if one cannot be told")
	f.StringArrayVar(&failIf, "fail-if", nil, "status 3 if this holds for B: time_to_first_token:p99>200, error_rate>1 (percent); may be repeated")
	f.StringVar(&junit, "junit", "", "write what came of the gates as JUnit XML")
	f.StringVar(&file, "json", "", "write the comparison to this file")
	f.StringVar(&html, "html", "", "write the comparison to this file, one page that one can send")
	f.BoolVar(&o.Different, "allow-different-work", false, "judge runs whose load or endpoint differs")
	f.BoolVar(&o.Invalid, "allow-invalid", false, "show runs that were cut short or limited by the client")
	return cmd
}

// judgeSide tries gates on the runs of B, by their summaries.
func (p *Program) judgeSide(r *comparison.Result, failIf []string, junit string) error {
	b := gate.Subject{Name: "B"}
	for i := range r.B {
		run, err := artifact.ReadSummary(artifact.NewLayout(r.B[i].Path, "").SummaryJSON())
		if err != nil {
			return fmt.Errorf("--fail-if: %w", err)
		}
		b.Runs = append(b.Runs, run)
	}
	code, err := p.gates(failIf, junit).Judge([]gate.Subject{b}, 0)
	if err != nil {
		return err
	}
	return status(code)
}

// checkFailOn refuses words of --fail-on that there are not.
func checkFailOn(words string) error {
	for word := range strings.SplitSeq(words, ",") {
		if word != "" && word != "worse" && word != "cannot-tell" {
			return fmt.Errorf("--fail-on %q is not worse or cannot-tell", word)
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
					return nil, fmt.Errorf("%s is there twice", r.Path)
				}
				seen[r.Path] = true
			}
			sides[i] = append(sides[i], runs...)
		}
	}
	return comparison.Compare(sides[0], sides[1], o)
}

// comparisonPage writes the page of a comparison; "" = none is wanted.
func (p *Program) comparisonPage(r *comparison.Result, path string) error {
	if path == "" {
		return nil
	}
	text, err := htmlpage.Compare(r, Version())
	if err == nil {
		err = artifact.WriteFile(path, text)
	}
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	fmt.Fprintf(p.Err, "HTML Report: %s\n", path)
	return nil
}

func (p *Program) writeComparison(r *comparison.Result, file, failOn string) error {
	for _, d := range r.Other {
		fmt.Fprintf(p.Out, "Differs: %s\n", d)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(p.Out, "Note: %s.\n", n)
	}
	told := true
	for _, l := range r.Worst() {
		told = told && l.Outcome != comparison.Cannot
		fmt.Fprintln(p.Out, l.Sentence(r.Options.Confidence))
	}
	fmt.Fprintln(p.Out)
	if err := r.WriteTable(p.Out); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "\n%s: %s\n", r.Basis, r.Outcome)
	if r.Basis == "one run each" && r.Options.Noise > 0 {
		fmt.Fprintf(p.Out, "Run-to-run noise of %g %% is assumed; several runs on each side would measure it.\n", 100*r.Options.Noise)
	}
	if file != "" {
		text, err := r.JSON()
		if err == nil {
			err = writeNew(file, string(text), true)
		}
		if err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	switch {
	case strings.Contains(failOn, "worse") && r.Outcome == comparison.Worse:
		return exit(worseStatus)
	case strings.Contains(failOn, "cannot-tell") && !told:
		return exit(cannotStatus)
	}
	return nil
}
