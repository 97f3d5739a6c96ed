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

	"aiperf/internal/config"
)

// Streams are the standard streams and what the program is told about them.
type Streams struct {
	In       io.Reader
	Out      io.Writer // reports, and nothing else
	Err      io.Writer // log lines, progress, warnings, errors
	Terminal bool      // Out is a terminal
	Progress int       // columns of the terminal behind Err, 0 when it is none
	Width    int       // columns of Out
	Environ  []string  // "KEY=value"
}

// Standard returns the process's own streams.
func Standard() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Width: 100, Environ: os.Environ()}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		s.Terminal = true
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			s.Width = w
		}
	}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		s.Progress = s.Width
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			s.Progress = w
		}
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w >= 40 {
		s.Width = w
	}
	return s
}

// Runner executes a resolved run and returns the exit status.
type Runner func(ctx context.Context, run *config.Run, streams Streams) int

// Program is everything that the commands need from outside.
type Program struct {
	Streams
	// Profile executes the run of the profile command.
	Profile Runner
	// FindTokenizer reports to a dry run why a tokenizer cannot be had; nil looks where a run would look.
	FindTokenizer func(ctx context.Context, run *config.Run) error
}

// warnf prints one warning.
func (s Streams) warnf(format string, a ...any) {
	fmt.Fprintf(s.Err, "warning: "+format+"\n", a...)
}

// errorf prints one error.
func (s Streams) errorf(format string, a ...any) {
	fmt.Fprintf(s.Err, "error: "+format+"\n", a...)
}
