// Package cli is the command line. It makes one resolved run from arguments, environment and files, prints help and errors, and passes the run to its
// executor.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/series/plan"
)

// Streams holds the standard streams and their properties.
type Streams struct {
	In       io.Reader
	Out      io.Writer // only results
	Err      io.Writer // log lines, progress, warnings, errors
	Terminal bool      // Out is a terminal
	Colour   bool      // Out is a terminal with colours, and the user did not disable them
	Progress int       // columns of the terminal behind Err; 0 if it is none, or cannot overwrite a line
	ASCII    bool      // Out is a terminal that shows only ASCII
	// Dashboard is the terminal for a full-screen view; nil = there is none.
	Dashboard *dashboard.Terminal
	Width     int        // columns of Out; 0 if it is not a terminal and no width is set
	Resized   func() int // returns the current columns of Out; nil = they do not change
	Environ   []string   // "KEY=value"
	Notes     []string   // messages from before the run; its log repeats them
	Warnings  []string
	Paint     *termdraw.Paint // style of the live line of Err; nil = without colours
	// Data is the output for programs: like Out, but without a filter if it is not a terminal. nil = Out.
	Data    io.Writer
	Secrets *redact.Secrets // known secrets, which are removed from all output; nil = none
}

// Standard returns the process's own streams.
func Standard() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		s.Terminal, s.Colour, s.ASCII, s.Width = true, colours(s.Environ), onlyASCII(s.Environ), helpWidth
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			s.Width = w
			s.Resized = func() int {
				if now, _, err := term.GetSize(fd); err == nil && now > 0 {
					return now
				}
				return w
			}
		}
	}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) && lookup(s.Environ, "TERM") != "dumb" {
		s.Progress, s.Paint = helpWidth, paint(s.Environ)
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			s.Progress = w
		}
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w >= 40 {
		s.Width, s.Resized = w, nil
	}
	s.Secrets = redact.NewSecrets(environSecrets(s.Environ)...)
	s.Data = s.Out
	s.Out = terminal.NewWriter(s.Out, s.Colour, s.Secrets)
	errors := terminal.NewWriter(s.Err, false, s.Secrets)
	s.Err = errors
	if fd := int(os.Stderr.Fd()); s.Progress > 0 {
		errors.Columns = func() int {
			if now, _, err := term.GetSize(fd); err == nil && now > 0 {
				return now
			}
			return s.Progress
		}
	}
	s.Dashboard = dashboardOf(s.Environ, errors)
	if s.Terminal {
		s.Data = s.Out
	}
	return s
}

// dashboardOf returns the terminal of this process if it can show a dashboard.
func dashboardOf(environ []string, errors *terminal.Writer) *dashboard.Terminal {
	t := &dashboard.Terminal{In: os.Stdin, Out: os.Stdout, Environ: environ, Paint: paint(environ)}
	if lookup(environ, "TERM") == "dumb" || !t.Usable() {
		return nil
	}
	if term.IsTerminal(int(os.Stderr.Fd())) { // errors written to a file do not disturb the screen
		t.Err = errors
	}
	return t
}

// paint returns the style of a terminal.
func paint(environ []string) *termdraw.Paint {
	return termdraw.NewPaint(colours(environ), lookup(environ, "TERM") != "dumb", onlyASCII(environ))
}

// onlyASCII reports whether a terminal shows only ASCII.
func onlyASCII(environ []string) bool {
	return !termdraw.ShowsUnicode(func(name string) string { return lookup(environ, name) })
}

// flush writes the text that the filters of the streams hold back.
func (s Streams) flush() {
	for _, w := range []io.Writer{s.Out, s.Err} {
		if w, ok := w.(*terminal.Writer); ok {
			_ = w.Flush() // the reader may be gone
		}
	}
}

// environSecrets returns the credentials of this program in the environment.
func environSecrets(environ []string) (found []string) {
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		found = append(found, lookup(environ, name))
	}
	for _, name := range []string{"HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"} {
		found = append(found, redact.URLSecrets(lookup(environ, name))...)
	}
	return found
}

// data returns the stream for output that programs read.
func (s Streams) data() io.Writer {
	if s.Data == nil {
		return s.Out
	}
	return s.Data
}

// colours reports whether a terminal gets colours: not if NO_COLOR is set, and not if it is a dumb terminal.
func colours(environ []string) bool {
	return lookup(environ, "NO_COLOR") == "" && lookup(environ, "TERM") != "dumb"
}

// helpWidth is the default width of text.
const helpWidth = 100

// columns returns the width of help.
func (s Streams) columns() int {
	if s.Width == 0 {
		return helpWidth
	}
	return s.Width
}

// Runner executes a resolved run and returns the exit status.
type Runner func(ctx context.Context, run *config.Run, streams Streams) int

// Program holds everything that the commands need from outside.
type Program struct {
	Streams
	Name string // name by which the program was called; "" = its own
	old  bool   // it runs under GenAI-Perf's name
	// Profile executes the run of the profile command.
	Profile Runner
	// Check tests what a run would refuse before its first request, and describes in one line what it would do; nil = no test.
	Check func(ctx context.Context, run *config.Run, streams Streams) (string, error)
	// Capacity searches for the highest load that meets objectives and returns the exit status.
	Capacity func(ctx context.Context, run *config.Run, o plan.CapacityOptions, streams Streams) int
	// Turns compares two targets in alternating blocks.
	Turns func(ctx context.Context, run *config.Run, o plan.TurnOptions, streams Streams) (*comparison.Result, error)
	// Work makes this process one of the machines of a run and returns the exit status; nil = this program was built without it.
	Work func(ctx context.Context, o WorkOptions) int
	Kube KubeTools
	// Watch returns a context that ends when the user interrupts; done stops watching and returns the resulting exit status. nil = no watching.
	Watch func(ctx context.Context, w io.Writer) (watched context.Context, done func(status int) int)
	// FindTokenizer returns why a tokenizer is not available, for a dry run; nil = search where a run would.
	FindTokenizer func(ctx context.Context, run *config.Run) error
}

// warnf prints one warning.
func (s Streams) warnf(format string, a ...any) {
	s.printErr("warning: "+format, a...)
}

// errorf prints one error.
func (s Streams) errorf(format string, a ...any) {
	s.printErr("error: "+format, a...)
}

// printErr writes a line without secrets and terminal control characters.
func (s Streams) printErr(format string, a ...any) {
	fmt.Fprintln(s.Err, terminal.Text(s.Secrets.Text(fmt.Sprintf(format, a...))))
}
