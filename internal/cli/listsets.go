package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/terminal"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/dataset/public"
)

// benchmarkAbout describes the dataset of an accuracy benchmark.
type benchmarkAbout struct {
	Name   string `json:"name"`
	Repo   string `json:"repository"`
	Grader string `json:"grader"`
	Gated  bool   `json:"gated"`
	Cached string `json:"cached"`
}

// setList is the output of dataset list.
type setList struct {
	Datasets   []public.SetDescription `json:"datasets"`
	Benchmarks []benchmarkAbout        `json:"benchmarks"`
}

// listCommand builds the command that lists the public datasets.
func (p *Program) listCommand() *cobra.Command {
	var asJSON, online bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "published datasets: rows, size, modality, licence, cache state",
		Long: "Lists the sets of --public-dataset and the benchmarks of --accuracy-benchmark. Without --online it uses no network: sizes are those\n" +
			"of cached files, rows and licences those of a cached page, or of the page when aiperf was built (- = unknown).",
		Example: "  aiperf dataset list\n  aiperf dataset list --online --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := p.listSets(cmd.Context(), online)
			if err != nil {
				return err
			}
			if !asJSON {
				_, err = fmt.Fprint(p.Out, list.table())
				return err
			}
			text, err := jsontext.Marshal(list)
			if err == nil {
				text, err = jsontext.Indent(text)
			}
			if err == nil {
				_, err = fmt.Fprintf(p.data(), "%s\n", text)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON instead of the table")
	f.BoolVar(&online, "online", false, "request sizes and licences from the hub")
	return cmd
}

// listSets collects the descriptions. If the hub does not answer for a dataset, the built-in description is used with a warning.
func (p *Program) listSets(ctx context.Context, online bool) (*setList, error) {
	h := hfhub.FromEnv(os.Getenv)
	h.Content = hfhub.Datasets
	if h.Offline == "" && !online {
		h.Offline = "dataset list without --online"
	}
	list := &setList{}
	for i := range public.Sets {
		a, err := public.Sets[i].About(ctx, h, public.Cache)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			p.warnf("%s: %v", a.Name, err)
		}
		list.Datasets = append(list.Datasets, a)
	}
	for i := range accuracy.Benchmarks {
		b := &accuracy.Benchmarks[i]
		cached, err := b.Cached(ctx, h, p.release())
		if err != nil {
			p.warnf("%s: %v", b.Name, err)
		}
		list.Benchmarks = append(list.Benchmarks, benchmarkAbout{b.Name, b.Repo, b.Grader, b.Gated, cached})
	}
	return list, nil
}

// table formats the lists.
func (l *setList) table() string {
	rows := [][]string{{"NAME", "MODALITY", "ROWS", "SIZE", "LICENCE", "CACHED", "REPOSITORY"}}
	for i := range l.Datasets {
		a := &l.Datasets[i]
		size := "-"
		if a.Bytes > 0 {
			size = hfhub.Size(a.Bytes)
		}
		count := "-"
		if a.Rows > 0 {
			count = strconv.Itoa(a.Rows)
		}
		rows = append(rows, []string{a.Name, a.Modality, count, size, dash(a.Licence), dash(a.Cached), dash(a.Repo) + gatedMark(a.Gated)})
	}
	sets := aligned(rows)
	rows = [][]string{{"BENCHMARK", "GRADER", "CACHED", "REPOSITORY"}}
	for _, b := range l.Benchmarks {
		rows = append(rows, []string{b.Name, b.Grader, dash(b.Cached), b.Repo + gatedMark(b.Gated)})
	}
	return sets + "\n" + aligned(rows)
}

func gatedMark(gated bool) string {
	if gated {
		return " (gated: accept its terms, set HF_TOKEN)"
	}
	return ""
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// aligned formats rows in columns, two blanks apart.
func aligned(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], len(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, c := range r[:len(r)-1] {
			fmt.Fprintf(&b, "%-*s", widths[i]+2, terminal.Line(c))
		}
		b.WriteString(terminal.Line(r[len(r)-1]) + "\n")
	}
	return b.String()
}
