package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/suggest"
	"aiperf/internal/cli/resolve"
)

// helpIndent is the column where the description of a flag begins.
const helpIndent = 34

// helpTopic is one page of the help of profile, with the groups of rows that it shows.
type helpTopic struct {
	name, text string
	groups     []string
}

// topics lists the pages of the help; every group of the table is on one of them.
var topics = []helpTopic{
	{"endpoint", "server, API, credentials, connections, tokenizer", []string{"Endpoint", "Tokenizer"}},
	{"input", "prompts: files, generated text, lengths, conversations", []string{
		"Input", "Conversation Input", "Prompt", "Cache Bust", "Prefix Prompt", "Input Sequence Length (ISL)", "Output Sequence Length (OSL)", "Rankings",
	}},
	{"media", "generated audio, images and video", []string{"Audio Input", "Image Input", "Video Input"}},
	{"trace", "recorded traffic: schedules, synthesis", []string{"Fixed Schedule", "Synthesis", "Scenario"}},
	{"load", "timing of requests, warm-up, cancellation, stop conditions", []string{"Load Generator", "User-Centric Rate", "Warmup", "Request Cancellation"}},
	{"output", "files, tables, goodput, live view, log", []string{"Output", "Goodput", "HTTP Trace", "UI", "Service"}},
	{"checks", "dry run, and gates that set the exit status", []string{"Dry Run and Gates"}},
	{"telemetry", "GPU and server metrics, network latency", []string{"Server Metrics", "GPU Telemetry", "Network Latency"}},
	{"runs", "repetitions, sweeps, searches, several machines", []string{"Multi-Run", "Machines"}},
	{"accuracy", "graded answers", []string{"Accuracy"}},
	{"compat", "flags of older tools, and flags without effect", []string{"Workers", "ZMQ Communication", "GenAI-Perf compatibility"}},
}

// examples lists the command lines of the short help.
var examples = [][2]string{
	{"try it without a server", "--url mock:// --streaming --concurrency 8 --request-count 200"},
	{"16 concurrent requests for two minutes", "--model Qwen/Qwen3-0.6B --url localhost:8000 --streaming --concurrency 16 --benchmark-duration 2m"},
	{"10 requests a second of given lengths", "--model m --streaming --request-rate 10 --isl 512 --osl 128 --extra-inputs ignore_eos:true --request-count 300"},
	{"replay a trace and count the requests that meet the objectives", `--model m --streaming --input-file trace.jsonl --fixed-schedule --goodput "time_to_first_token:500 request_latency:5000"`},
	{"sweep the concurrency, three runs each", "--model m --streaming --concurrency 1,2,4,8 --num-profile-runs 3"},
	{"print the resolved configuration of a file, then run it", "--config run.yaml --dry-run"},
}

// helpPage returns the word after -h or --help: the name of a topic or of a flag, or "all"; empty for the short help.
func helpPage(words []string) string {
	for i, w := range words {
		if w != "-h" && w != "--help" {
			continue
		}
		if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			return words[i+1]
		}
		break
	}
	return ""
}

// profileHelp prints a page of the help of profile under the name that the program runs under.
func (p *Program) profileHelp(page string) error {
	if p.old {
		return writeHelp(p.Out, resolve.Flags, oldName, oldProfileExamples, page, p.columns())
	}
	return writeHelp(p.Out, resolve.Flags, "aiperf", examples, page, p.columns())
}

// writeHelp prints a page of the help of a program's profile command, wrapped at a width in columns. examples are shown in the short help.
func writeHelp(w io.Writer, t *setting.Table, program string, examples [][2]string, page string, width int) error {
	width = min(max(width, 60), 140)
	out := bufio.NewWriter(w)
	i := slices.IndexFunc(topics, func(one helpTopic) bool { return one.name == page })
	f, _, known := t.Lookup("--" + page)
	switch {
	case page == "":
		shortHelp(out, t, program, examples, width)
	case page == "all":
		for _, one := range topics {
			writeTopic(out, t, one, width)
		}
		writeNotation(out, width)
	case i >= 0:
		writeTopic(out, t, topics[i], width)
		writeNotation(out, width)
	case known:
		writeFlag(out, f, width)
	default:
		var names []string
		for _, one := range topics {
			names = append(names, one.name)
		}
		hint := ""
		if near := suggest.Name(page, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return fmt.Errorf("--help %s: there is no such page%s; pages are all, %s, and every flag name", page, hint, strings.Join(names, ", "))
	}
	return out.Flush()
}

// shortHelp prints one or two screens: examples, the most common flags, the names of the other pages.
func shortHelp(out *bufio.Writer, t *setting.Table, program string, examples [][2]string, width int) {
	fmt.Fprintf(out, "Usage: %s profile --model NAME --url URL [flags]\n", program)
	fmt.Fprintln(out)
	for _, line := range wrap("Sends load to an inference server, measures every answer, prints a report and writes it to a directory.", width) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out, "\nExamples")
	for _, e := range examples {
		fmt.Fprintf(out, "  # %s\n", e[0])
		for i, line := range wrapIndent("  "+program+" profile "+quoted(e[1]), width-2, "    ") {
			if i > 0 {
				fmt.Fprint(out, " \\\n")
			}
			fmt.Fprint(out, strings.ReplaceAll(line, hardBlank, " "))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out, "\nFlags that most people use")
	for i := range t.Rows {
		if f := &t.Rows[i]; f.Common && !f.NotBuilt {
			writeFlag(out, f, width)
		}
	}
	fmt.Fprintf(out, "\nMore help: %s profile --help PAGE\n", program)
	for _, one := range topics {
		fmt.Fprintf(out, "  %-12s%s\n", one.name, one.text)
	}
	fmt.Fprintf(out, "  %-12s%s\n", "all", "every flag")
	fmt.Fprintf(out, "  %-12s%s\n", "FLAG", "one flag: --help concurrency")
	writeNotation(out, width)
}

// hardBlank replaces a blank at which a line must not break.
const hardBlank = "\u2060"

// quoted keeps quoted text on one line.
func quoted(line string) string {
	parts := strings.Split(line, `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], " ", hardBlank)
	}
	return strings.Join(parts, `"`)
}

// writeTopic prints the groups of a topic: the flags that this build supports, then those that it only recognises.
func writeTopic(out *bufio.Writer, t *setting.Table, one helpTopic, width int) {
	for _, group := range one.groups {
		fmt.Fprintf(out, "%s\n", group)
		for _, later := range []bool{false, true} {
			for i := range t.Rows {
				if f := &t.Rows[i]; f.Group == group && f.NotBuilt == later {
					writeFlag(out, f, width)
				}
			}
		}
		fmt.Fprintln(out)
	}
}

func writeNotation(out *bufio.Writer, width int) {
	fmt.Fprintln(out)
	for _, line := range wrap("N,… is a list: several words, one word with commas, or the flag again. N[,N…] is one value, or a list in one word to sweep over. "+
		"TIME is a number, or 500ms, 90s, 2m, 1h. Enum values ignore case, - and _ are the same.", width) {
		fmt.Fprintln(out, line)
	}
}

func writeFlag(out *bufio.Writer, f *setting.Row, width int) {
	head := "  " + strings.Join(append(append([]string(nil), f.Flags...), f.FalseNames...), ", ")
	if v := placeholder(f); v != "" {
		head += " " + v
	}
	text := f.Help
	if note := remarks(f); note != "" {
		text += " [" + note + "]"
	}
	lines := wrap(text, width-helpIndent)
	if len(head) >= helpIndent-1 {
		for _, line := range wrapIndent(head, width, "    ") {
			fmt.Fprintln(out, line)
		}
		head = ""
	}
	for _, line := range lines {
		fmt.Fprintf(out, "%-*s%s\n", helpIndent, head, line)
		head = ""
	}
}

// placeholder returns the word for the value of a flag.
func placeholder(f *setting.Row) string {
	v := map[setting.Kind]string{setting.Int: "N", setting.Float: "X", setting.Text: "TEXT", setting.Path: "PATH", setting.Enum: "NAME"}[f.Kind]
	if f.Unit != "" {
		v = "TIME"
	}
	switch {
	case f.List:
		v += ",…"
	case f.Sweep:
		v += "[," + v + "…]"
	}
	if f.Alone != "" {
		v = "[=" + v + "]"
	}
	if f.Optional {
		v = "[" + v + "]"
	}
	return v
}

// remarks returns choices, range and default of a flag.
func remarks(f *setting.Row) string {
	var notes []string
	if f.NotBuilt {
		notes = append(notes, "not built yet")
	}
	if f.NoEffect != "" && f.Env == "" {
		notes = append(notes, "no effect: "+f.NoEffect)
	}
	shown := f.Shown
	switch {
	case shown == nil && len(f.Choices) <= 12:
		shown = f.Choices
	case shown == nil:
		shown = f.Choices[:6]
	}
	if more := len(f.Choices) - len(shown); more > 0 {
		notes = append(notes, strings.Join(shown, ", ")+fmt.Sprintf(" and %d more", more))
	} else if len(shown) > 0 {
		notes = append(notes, strings.Join(shown, ", "))
	}
	if plugins := more(f); len(plugins) > 0 {
		notes = append(notes, "plug-ins: "+strings.Join(plugins, ", "))
	}
	if f.Bounds != "" {
		notes = append(notes, strings.NewReplacer("= ", "=", "> ", ">", "< ", "<").Replace(f.Bounds))
	}
	if f.Default != "" {
		notes = append(notes, "default: "+f.Default)
	}
	return strings.Join(notes, "; ")
}

// wrap breaks text at blanks into lines of at most width columns; a longer word gets its own line.
func wrap(text string, width int) []string { return wrapIndent(text, width, "") }

func wrapIndent(text string, width int, indent string) []string {
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line := lead
	for _, word := range strings.Fields(text) {
		switch {
		case strings.TrimSpace(line) == "":
			line += word
		case len([]rune(line))+1+len([]rune(word)) > width:
			lines = append(lines, line)
			line = lead + indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
