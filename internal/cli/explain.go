package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/explanation"
	htmlpage "aiperf/internal/report/htmlreport"
	"aiperf/internal/report/runfiles"
)

const explainLong = "Compares the slow requests of a finished run with the others, over everything that the files of the run say about each request: lengths, cache, load, " +
	"server, connection, and the gauges of servers and GPUs at that instant. It ranks what goes together with being slow, and says so if nothing does. " +
	"Neighbouring requests are not treated as independent. It reports associations, not causes."

// explainCommand builds the command that compares the slow requests of a run with the others.
func (p *Program) explainCommand() *cobra.Command {
	var above, below string
	var asJSON, all bool
	var html string
	o := explanation.Options{}
	cmd := &cobra.Command{
		Use: "explain RUN-DIR", Short: "what the slow requests of a run have in common", Long: explainLong,
		Example: "  aiperf explain artifacts/my-run\n  aiperf explain artifacts/my-run --metric inter_token_latency --above p95\n" +
			"  aiperf explain artifacts/my-run --server-model --html slow.html",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) != 1 {
				return fmt.Errorf("explain takes one run directory, not %d; see aiperf explain --help", len(words))
			}
			if err := setThreshold(&o, above, below); err != nil {
				return err
			}
			if o.Metric != "" {
				m, err := explanation.Lookup(o.Metric)
				if err != nil {
					return fmt.Errorf("--metric: %w", err)
				}
				if err := checkSide(m, above, below); err != nil {
					return err
				}
			} else if below != "" {
				return errors.New("--below needs --metric with a metric of which more is better; for latencies use --above")
			}
			run, err := p.oneRun(words[0])
			if err != nil {
				return err
			}
			e, err := explanation.Explain(run, o)
			if err != nil {
				return err
			}
			if html != "" {
				if err := p.writeExplainedPage(run, e, html); err != nil {
					return err
				}
			}
			if asJSON {
				text, err := e.JSON()
				if err == nil {
					_, err = p.data().Write(text)
				}
				return err
			}
			return e.WriteText(p.Out, p.Width, all)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Metric, "metric", "", "metric with one value per request (default time_to_first_token; request_latency without streaming)")
	f.StringVar(&above, "above", "", "percentile above which a request is slow (default the highest of p99, p95, p90 with enough slow requests)")
	f.StringVar(&below, "below", "", "percentile below which a request is slow, for metrics of which more is better (for these the default is p1, p5 or p10)")
	f.BoolVar(&all, "all", false, "list also the facts that are not significant")
	f.BoolVar(&o.Model, "server-model", false, "fit a small model of the server: prefill speed, and time per step and per request in flight")
	f.BoolVar(&asJSON, "json", false, "print JSON; docs/explain-json.md describes its fields")
	f.StringVar(&html, "html", "", "write the page of the run with this explanation to this file")
	complete := func(list []string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list, cobra.ShellCompDirectiveNoFileComp
		}
	}
	for flag, list := range map[string][]string{"metric": explanation.Metrics(), "above": {"p99", "p95", "p90"}, "below": {"p1", "p5", "p10"}} {
		if err := cmd.RegisterFlagCompletionFunc(flag, complete(list)); err != nil {
			panic("explain: " + err.Error()) // cannot happen: the flags are defined above
		}
	}
	return cmd
}

// checkSide refuses a threshold on the good side of a metric: the requests beyond it are the fast ones.
func checkSide(m *metric.Metric, above, below string) error {
	switch {
	case above != "" && m.Better == metric.Larger:
		return fmt.Errorf("--above %s: more %s is better, so its slow requests are below a percentile; write for example --below p5", above, m.Tag)
	case below != "" && m.Better == metric.Smaller:
		return fmt.Errorf("--below %s: less %s is better, so its slow requests are above a percentile; write for example --above p95", below, m.Tag)
	}
	return nil
}

// setThreshold sets the percentile of --above or --below.
func setThreshold(o *explanation.Options, above, below string) error {
	flag, text := "--above", above
	switch {
	case above != "" && below != "":
		return errors.New("--above and --below exclude each other: slow requests are on one side of the threshold; leave one out")
	case below != "":
		flag, text, o.Low = "--below", below, true
	case above == "":
		return nil
	}
	number, ok := strings.CutPrefix(strings.ToLower(text), "p")
	level, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(level > 0 && level < 100) {
		example := "p95"
		if o.Low {
			example = "p5"
		}
		return fmt.Errorf("%s %q is not a percentile above p0 and below p100; write for example %s %s", flag, text, flag, example)
	}
	o.Level = level
	return nil
}

// oneRun returns the run of a directory, or of the records file in it.
func (p *Program) oneRun(path string) (*runfiles.Run, error) {
	if path == "" {
		return nil, errors.New("the name of the run directory is empty")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, boundedfile.Missing(path)
	case err != nil:
		return nil, err
	case !info.IsDir() && runfiles.HasRecords(filepath.Dir(path)):
		return runfiles.Open(filepath.Dir(path)), nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a run directory", path)
	case runfiles.HasRecords(path):
		return runfiles.Open(path), nil
	}
	runs, err := runfiles.Find([]string{path}, p.warnf)
	if err != nil {
		return nil, err
	}
	if len(runs) == 1 {
		return runs[0], nil
	}
	var dirs []string
	for _, r := range runs[:min(len(runs), 5)] {
		dirs = append(dirs, r.Dir)
	}
	if len(runs) > 5 {
		dirs = append(dirs, "…")
	}
	return nil, fmt.Errorf("%s has %d runs; explain takes one of them: %s", path, len(runs), strings.Join(slices.Clip(dirs), ", "))
}

// writeExplainedPage writes the page of a run with an explanation.
func (p *Program) writeExplainedPage(run *runfiles.Run, e *explanation.Explanation, path string) error {
	if !runfiles.IsRun(run.Dir) {
		return fmt.Errorf("--html: %s has no summary (profile_export_aiperf.json), which the page needs; leave out --html", run.Dir)
	}
	text, err := htmlpage.Explained(run, e, Version())
	if err == nil {
		err = artifact.WriteFile(path, text)
	}
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	fmt.Fprintf(p.Err, "HTML Report: %s\n", path)
	return nil
}
