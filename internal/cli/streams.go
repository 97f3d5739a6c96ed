// Package cli is the command line: it turns arguments, environment and files into one resolved run, prints help and errors, and hands
// the run to whoever executes it.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"aiperf/internal/comparison"
	"aiperf/internal/config"
	"aiperf/internal/draw"
	"aiperf/internal/plan"
	"aiperf/internal/redact"
	"aiperf/internal/terminal"
	"aiperf/internal/ui/dashboard"
)

// Streams are the standard streams and what the program is told about them.
type Streams struct {
	In       io.Reader
	Out      io.Writer // reports, and nothing else
	Err      io.Writer // log lines, progress, warnings, errors
	Terminal bool      // Out is a terminal
	Colour   bool      // Out is a terminal that shows colours, and nobody asked for none
	Progress int       // columns of the terminal behind Err, 0 when it is none, or one that cannot write over a line
	ASCII    bool      // Out is a terminal that shows ASCII only
	// Dashboard is the terminal of a full-screen view; nil = there is none that could show one.
	Dashboard *dashboard.Terminal
	Width     int        // columns of Out, 0 when it is no terminal and nobody said
	Resized   func() int // columns of Out by now; nil = they do not change
	Environ   []string   // "KEY=value"
	Notes     []string   // what was said before the run; its log repeats it
	Warnings  []string
	Paint     *draw.Paint // how the live line of Err is drawn; nil = without colours
	// Data is where commands write what programs read: as Out, but without a filter where that is no terminal. nil = Out.
	Data    io.Writer
	Secrets *redact.Secrets // that are known so far; what is written goes through them. nil = none are
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

// dashboardOf is the terminal of this process if it can show a dashboard.
func dashboardOf(environ []string, errors *terminal.Writer) *dashboard.Terminal {
	t := &dashboard.Terminal{In: os.Stdin, Out: os.Stdout, Environ: environ, Paint: paint(environ)}
	if lookup(environ, "TERM") == "dumb" || !t.Usable() {
		return nil
	}
	if term.IsTerminal(int(os.Stderr.Fd())) { // what is written to a file disturbs no screen
		t.Err = errors
	}
	return t
}

// paint is how a terminal is drawn on.
func paint(environ []string) *draw.Paint {
	return draw.NewPaint(colours(environ), lookup(environ, "TERM") != "dumb", onlyASCII(environ))
}

// onlyASCII tells whether a terminal shows no more than ASCII.
func onlyASCII(environ []string) bool {
	return !draw.ShowsUnicode(func(name string) string { return lookup(environ, name) })
}

// flush writes what the streams' filters keep back.
func (s Streams) flush() {
	for _, w := range []io.Writer{s.Out, s.Err} {
		if w, ok := w.(*terminal.Writer); ok {
			_ = w.Flush() // who reads may be gone
		}
	}
}

// environSecrets are the credentials that the environment gives to this program.
func environSecrets(environ []string) (found []string) {
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		found = append(found, lookup(environ, name))
	}
	for _, name := range []string{"HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"} {
		found = append(found, redact.URLSecrets(lookup(environ, name))...)
	}
	return found
}

// data is where a command writes what programs read.
func (s Streams) data() io.Writer {
	if s.Data == nil {
		return s.Out
	}
	return s.Data
}

// colours reports whether a terminal gets colours: not when NO_COLOR says so, nor when it is a dumb one.
func colours(environ []string) bool {
	return lookup(environ, "NO_COLOR") == "" && lookup(environ, "TERM") != "dumb"
}

// helpWidth is the width of text for which nothing is known.
const helpWidth = 100

// columns is the width for help.
func (s Streams) columns() int {
	if s.Width == 0 {
		return helpWidth
	}
	return s.Width
}

// Runner executes a resolved run and returns the exit status.
type Runner func(ctx context.Context, run *config.Run, streams Streams) int

// Program is everything that the commands need from outside.
type Program struct {
	Streams
	Name string // that the program was called by; "" = its own
	old  bool   // it runs under GenAI-Perf's name
	// Profile executes the run of the profile command.
	Profile Runner
	// Check tries what a run would refuse before its first request, and says in one line what it would do; nil tries nothing.
	Check func(ctx context.Context, run *config.Run, streams Streams) (string, error)
	// Capacity searches for the highest load that keeps objectives and returns the exit status.
	Capacity func(ctx context.Context, run *config.Run, o plan.CapacityOptions, streams Streams) int
	// Turns compares two targets in turns.
	Turns func(ctx context.Context, run *config.Run, o plan.TurnOptions, streams Streams) (*comparison.Result, error)
	// Watch makes a context that ends when the user interrupts; done ends the watch and gives the exit status after that. nil watches nothing.
	Watch func(ctx context.Context, w io.Writer) (watched context.Context, done func(status int) int)
	// FindTokenizer reports to a dry run why a tokenizer cannot be had; nil looks where a run would look.
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

// printErr writes a line without secrets and without what steers a terminal.
func (s Streams) printErr(format string, a ...any) {
	fmt.Fprintln(s.Err, terminal.Text(s.Secrets.Text(fmt.Sprintf(format, a...))))
}
