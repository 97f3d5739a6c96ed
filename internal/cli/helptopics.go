package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/docs"
	"aiperf/internal/base/suggest"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/objective"
)

// helpCommand builds the command that explains commands, pages and flags of profile, and concepts.
func (p *Program) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [WORD]", GroupID: groupOf("help"), Short: "help on a command, a flag or a topic", DisableFlagParsing: true,
		Long:    "Explains a command, a flag of profile or a topic.\n\nTopics: " + strings.Join(helpTopics(), ", ") + ".",
		Example: "  aiperf help compare\n  aiperf help slo\n  aiperf help request-rate",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			names := helpTopics()
			for _, c := range root.Commands() {
				names = append(names, c.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, words []string) error {
			words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-h" || w == "--help" })
			if len(words) == 0 {
				return root.Help()
			}
			if found, rest, err := root.Find(words); err == nil && found != root && len(rest) == 0 {
				return errors.Join(found.Help(), p.topicOfCommand(words))
			}
			return p.helpOn(root, strings.TrimLeft(words[0], "-"))
		},
	}
}

// topicOfCommand prints the flags of profile that have the name of a command as their topic, such as "accuracy".
func (p *Program) topicOfCommand(words []string) error {
	if len(words) != 1 || !isTopic(words[0]) {
		return nil
	}
	fmt.Fprint(p.Out, "\nFlags of profile on this topic:\n\n")
	return p.profileHelp(words[0])
}

// isTopic reports whether a word names a page of the help of profile.
func isTopic(word string) bool {
	return slices.ContainsFunc(topics, func(one helpTopic) bool { return one.name == word })
}

// helpTopics lists the words that help explains besides commands and flags.
func helpTopics() (names []string) {
	for _, one := range concepts {
		names = append(names, one.names[0])
	}
	for _, one := range topics {
		names = append(names, one.name)
	}
	return names
}

// topicList says which topics help explains, in lines of at most 90 columns.
func topicList() string {
	var b strings.Builder
	b.WriteString("Topics of aiperf help:")
	column := b.Len()
	for i, name := range helpTopics() {
		if i > 0 {
			b.WriteByte(',')
		}
		if column += len(name) + len(", "); column > 90 {
			b.WriteByte('\n')
			column = len(name)
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(name)
	}
	return b.String()
}

// helpOn explains one word: a concept, or else a page or a flag of profile, or else a metric.
func (p *Program) helpOn(root *cobra.Command, word string) error {
	for _, one := range concepts {
		if slices.Contains(one.names, strings.ToLower(word)) {
			_, err := fmt.Fprintln(p.Out, one.text())
			return err
		}
	}
	_, _, flag := resolve.Flags.Lookup("--" + word)
	if flag || isTopic(word) {
		return p.profileHelp(word)
	}
	if text := metricHelp(word); text != "" {
		_, err := fmt.Fprintln(p.Out, text)
		return err
	}
	known := helpTopics()
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	hint := ""
	if near := suggest.Name(word, known); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Errorf("no help on %q%s\ntopics: %s; commands and flags have help too: aiperf --help, aiperf profile --help all", word, hint, strings.Join(helpTopics(), ", "))
}

// concept is a page of help about a subject that several commands share.
type concept struct {
	names []string
	text  func() string
}

// concepts lists these pages.
var concepts = []concept{
	{[]string{"slo", "slos", "objective", "objectives", "sla"}, func() string { return sloPage }},
	{[]string{"metrics", "metric", "tags"}, metricsPage},
	{[]string{"verdict", "validity", "trust"}, func() string { return plainPage(docs.Verdict) }},
	{[]string{"gates", "gate"}, func() string { return plainPage(docs.Gates) }},
	{[]string{"loops", "loop", "open-loop", "closed-loop", "coordinated-omission"}, func() string { return plainPage(docs.Loops) }},
	{[]string{"instants", "clocks"}, func() string { return plainPage(docs.Instants) }},
}

var sloPage = `Objectives: limits that a server has to meet

  METRIC[:STAT] < VALUE[UNIT]     time_to_first_token:p99<200ms
  STAT(METRIC) < VALUE[UNIT]      p99(ttft)<0.2s

Also <=, and > or >= if more is better: tps>100. Times without a unit are in the unit of the
metric (aiperf help metrics lists them); units are us, ms, s, m, h and %.
Statistics are avg (the default), min, max, std and p1 to p99.

  aiperf profile --objective 'ttft:p99<200ms'                 exit status 3 unless it holds
  aiperf profile --goodput 'ttft<200ms request_latency<2s'    number per second of requests that meet all of these
  aiperf profile --search-sla 'ttft:p95<200ms' …              constraint of a search
  aiperf find-capacity --slo 'ttft:p99<200ms'                 highest load that meets it
  aiperf profile --fail-if 'ttft:p99>200ms'                   exit status 3 when this is true (the opposite)

Short names: ` + shortNames() + `

Old spellings stay: --goodput tag:200, --search-sla tag:p95:lt:200, --ttft-sla-ms 200.
aiperf help metrics lists the metrics.`

// shortNames lists the short names of metrics.
func shortNames() string {
	var list []string
	for _, short := range slices.Sorted(maps.Keys(objective.ShortNames)) {
		list = append(list, short+" = "+objective.ShortNames[short])
	}
	return "\n  " + strings.Join(list, "\n  ")
}

// metricsPage lists the metrics with their units.
func metricsPage() string {
	var b strings.Builder
	b.WriteString("Metrics, with the units of reports and limits. aiperf help ttft explains one.\n\n")
	for _, one := range metric.All() {
		fmt.Fprintf(&b, "  %s: %s (%s)\n", one.Tag, one.Header, one.Display)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
