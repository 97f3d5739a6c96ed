package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// page is one man page: the text of a help page of the program.
type page struct {
	name    string // of the page
	section int    // 1 = commands, 7 = topics
	args    []string
	short   string // description in one line
}

// patience is the longest time for one call of the program.
const patience = time.Minute

// ask returns what the program prints for a command line, in 80 columns.
func ask(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "COLUMNS=80", "NO_COLOR=1", "TERM=dumb", "LANG=C.UTF-8")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), err)
	}
	return string(out), nil
}

// word completes a command line; short describes it.
type word struct{ name, short string }

// words returns the words that complete a command line.
func words(program string, args ...string) (list []word, err error) {
	out, err := ask(program, append([]string{"__complete"}, append(args, "")...)...)
	for line := range strings.SplitSeq(out, "\n") {
		if name, short, _ := strings.Cut(line, "\t"); name != "" && !strings.ContainsAny(name[:1], ":-_") {
			list = append(list, word{name, short})
		}
	}
	return list, err
}

// pagesOf lists the man pages of the program: the program, its commands, and the topics of help that are not commands.
func pagesOf(program string) (list []page, err error) {
	commands, err := words(program)
	if err != nil {
		return nil, err
	}
	all, err := words(program, "help")
	if err != nil {
		return nil, err
	}
	list = append(list, page{"aiperf", 1, []string{"--help"}, "benchmarks of LLM inference servers"})
	for _, c := range commands {
		if c.name == "help" || strings.HasPrefix(c.name, "genai-perf") {
			continue
		}
		args := []string{c.name, "--help"}
		if c.name == "profile" {
			args = append(args, "all")
		}
		list = append(list, page{"aiperf-" + c.name, 1, args, c.short})
		below, err := subcommands(program, c.name)
		if err != nil {
			return nil, err
		}
		list = append(list, below...)
	}
	list = append(list, page{"genai-perf", 1, []string{"genai-perf", "--help"}, "aiperf under the name of GenAI-Perf"})
	for _, topic := range all {
		if !slices.ContainsFunc(commands, func(c word) bool { return c.name == topic.name }) {
			list = append(list, page{"aiperf-" + topic.name, 7, []string{"help", topic.name}, "help on " + topic.name})
		}
	}
	return list, nil
}

// subcommands lists the man pages of the commands under a command. Other words that complete it have no separate help.
func subcommands(program, command string) (list []page, err error) {
	below, err := words(program, command)
	if err != nil {
		return nil, err
	}
	for _, c := range below {
		if !subcommandName.MatchString(c.name) {
			continue
		}
		text, err := ask(program, command, c.name, "--help")
		if err == nil && usedAs.MatchString(text) && strings.HasPrefix(usedAs.FindStringSubmatch(text)[1]+" ", command+" "+c.name+" ") {
			list = append(list, page{"aiperf-" + command + "-" + c.name, 1, []string{command, c.name, "--help"}, c.short})
		}
	}
	return list, nil
}

// subcommandName is what the name of a command looks like.
var subcommandName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// usedAs finds the words of the command in its help.
var usedAs = regexp.MustCompile(`Usage:\s+aiperf ([^\n]+)`)

// roff writes a help text as a man page (man(7)): verbatim lines, with a heading for each line that ends in a colon at the left margin.
func roff(p page, version, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" Made of aiperf %s.\n.TH %q %d \"\" \"aiperf %s\" \"aiperf\"\n", strings.Join(p.args, " "), strings.ToUpper(p.name), p.section, version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n", escape(p.name), escape(p.short))
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if head, ok := strings.CutSuffix(line, ":"); ok && head != "" && !strings.HasPrefix(line, " ") && len(head) < 60 {
			fmt.Fprintf(&b, ".fi\n.SH %s\n.nf\n", escape(strings.ToUpper(head)))
			continue
		}
		b.WriteString(escape(line) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}

// aligned matches an ellipsis and the blanks up to an aligned column.
var aligned = regexp.MustCompile(`…  ( +)`)

// escape protects a line from roff: backslashes, hyphens, and control characters at its beginning. Terminals without Unicode have no ellipsis, so it
// becomes three dots.
func escape(line string) string {
	line = strings.ReplaceAll(aligned.ReplaceAllString(line, "...$1"), "…", "...")
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}

// completions are the files of completion scripts, by shell.
var completions = map[string]string{"bash": "bash/aiperf", "zsh": "zsh/_aiperf", "fish": "fish/aiperf.fish", "powershell": "powershell/aiperf.ps1"}

// writePages writes the man pages to DIR/man and the completions to DIR/completions.
func writePages(program, dir string) error {
	version, err := ask(program, "--version")
	if err != nil {
		return err
	}
	version = strings.Fields(version)[1]
	list, err := pagesOf(program)
	if err != nil {
		return err
	}
	for _, p := range list {
		text, err := ask(program, p.args...)
		if err != nil {
			return err
		}
		if strings.Contains(text, "\nNot built yet.") {
			continue
		}
		if err := put(filepath.Join(dir, "man", fmt.Sprintf("man%d", p.section), fmt.Sprintf("%s.%d", p.name, p.section)), roff(p, version, text)); err != nil {
			return err
		}
	}
	for shell, file := range completions {
		text, err := ask(program, "completion", shell)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(dir, "completions", filepath.FromSlash(file)), text); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file and its directory.
func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
