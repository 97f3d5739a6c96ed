package cli

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"aiperf/internal/cli/resolve"
)

// TestExamplesOfEveryCommand: the help of every built command shows an example of it, whose flags the command has.
func TestExamplesOfEveryCommand(t *testing.T) {
	flag := regexp.MustCompile(`(^|\s)--[a-z][a-z-]*`)
	used := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.GroupID == groupLater || cmd.Hidden {
			return
		}
		words := strings.Fields(cmd.CommandPath())[1:]
		used[strings.Join(words, " ")] = true
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		if status := Main(t.Context(), p, append(words, "--help")); status != 0 {
			t.Errorf("%v --help: status %d, %s", words, status, errs.String())
		}
		help := out.String() + errs.String()
		_, rest, found := strings.Cut(help, "Examples")
		if own := "aiperf " + strings.Join(words, " "); !found || !strings.Contains(rest, own) && cmd.Name() != oldName { // that one shows the help of aiperf
			t.Errorf("%v: no example in its help", words)
		}
		for line := range strings.SplitSeq(strings.TrimSpace(cmd.Example), "\n") {
			if cmd.Example == "" {
				break // profile writes its help itself; TestExamples runs its examples
			}
			own, _, err := cmd.Root().Find(strings.Fields(line)[1:])
			if err != nil || own == cmd.Root() && cmd != own {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if cmd == own || own.Parent() == cmd {
				exampleFlags(t, own, flag.FindAllString(line, -1), line)
			}
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk((&Program{}).root())
	for words := range commandExamples {
		if !used[words] {
			t.Errorf("%s: an example of no command", words)
		}
	}
}

// exampleFlags fails for a flag of an example that is neither in the help of its command nor one of profile.
func exampleFlags(t *testing.T, cmd *cobra.Command, flags []string, line string) {
	t.Helper()
	var out, errs strings.Builder
	p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
	Main(t.Context(), p, append(strings.Fields(cmd.CommandPath())[1:], "--help"))
	help, _, _ := strings.Cut(out.String()+errs.String(), "\nExamples")
	if _, flags, found := strings.Cut(out.String(), "Flags:"); found {
		help += flags
	}
	for _, f := range flags {
		f = strings.TrimSpace(f)
		_, _, known := resolve.Flags.Lookup(f)
		if !known && !strings.Contains(help, f) {
			t.Errorf("%s: the command has no %s", line, f)
		}
	}
}

// TestTheExampleOfTheMockServerStarts: its values are ones that the server takes.
func TestTheExampleOfTheMockServerStarts(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, errs strings.Builder
	p := &Program{Streams: Streams{Out: &out, Err: &errs}}
	if status := Main(ctx, p, strings.Fields(strings.Replace(commandExamples["mock-server"], "8000", "0", 1))); status != 0 {
		t.Errorf("status %d, %s%s", status, out.String(), errs.String())
	}
}

// TestExamplesAreAccepted runs examples that need no server and no file: the command takes their flags and values.
func TestExamplesAreAccepted(t *testing.T) {
	for _, name := range []string{"accuracy grade", "find-capacity", "tokenizer count", "tokenizer info"} {
		line := commandExamples[name]
		if name == "find-capacity" {
			line += " --dry-run"
		}
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		if status := Main(t.Context(), p, shellWords(line)); status != 0 {
			t.Errorf("%s: status %d, %s%s", line, status, out.String(), errs.String())
		}
	}
}

// shellWords splits a line at blanks outside of double quotes.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
