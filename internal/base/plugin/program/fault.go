package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"aiperf/internal/base/terminal"
)

// Fault is the reason why a program cannot be used any more. It is in the chain of the errors of all its later calls.
type Fault struct {
	Found  string // what was found, for example "ended with exit status 1"
	Cause  error  // cause of a context that ended; nil = the program is at fault
	closed bool
}

func (f *Fault) Error() string { return f.Found }

// Unwrap returns the cause of the context that ended.
func (f *Fault) Unwrap() error { return f.Cause }

// Error is the failure of one call.
type Error struct {
	Plugin string // category:name
	Method string
	Err    error // a Fault if the program cannot be used any more
}

func (e *Error) Error() string { return fmt.Sprintf("plug-in %s: %s: %v", e.Plugin, e.Method, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

func (p *Program) wrap(method string, err error) error {
	return &Error{Plugin: p.s.name(), Method: method, Err: err}
}

// explain says why no line could be read.
func (p *Program) explain(err error) *Fault {
	var fault *Fault
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, os.ErrClosed):
	default:
		return &Fault{Found: "reading its output failed: " + err.Error()}
	}
	if !p.proc.awaitExit(exitWait) {
		return &Fault{Found: "the program closed its standard output but did not end"}
	}
	found := "the program ended unexpectedly (" + p.proc.status() + ")"
	if last := p.log.lastLine(statusWait); last != "" {
		found += "; its last line on standard error: " + quote(last)
	}
	return &Fault{Found: found}
}

// statusWait is the time in which a program whose output ended should end, too, for its exit status to be part of the message.
const statusWait = time.Second

// exitWait is the same for a program whose output has ended already. On a busy machine the end of an interpreter takes more than a second.
const exitWait = 3 * time.Second

// quote returns the beginning of a foreign text as one harmless quoted line.
func quote(text string) string {
	const most = 200
	if len(text) > 4*most {
		text = text[:4*most]
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", terminal.Line(text))
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
