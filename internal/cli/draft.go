package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// draft is a file or a directory that is being written: under a name of its own beside its place, which it gets when it is whole. A signal that
// ends the program meanwhile takes it away. What is neither, a pipe or a device, is written as it comes.
type draft struct {
	*os.File        // nil of a directory
	path     string // "" of a pipe
	to       string
	signals  chan os.Signal
}

// draftFile begins a file. Whoever begins one calls drop, whatever happens.
func (p *Program) draftFile(to string) (*draft, error) {
	if info, err := os.Stat(to); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("%s is a directory", to)
		case !info.Mode().IsRegular():
			file, err := os.OpenFile(to, os.O_WRONLY, 0)
			return &draft{File: file, to: to}, err
		}
		if to, err = filepath.EvalSymlinks(to); err != nil { // a link stays one
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return nil, err
	}
	sweepDrafts(filepath.Dir(to))
	file, err := os.CreateTemp(filepath.Dir(to), draftPattern())
	if err != nil {
		return nil, err
	}
	return newDraft(file, file.Name(), to, p.Err, os.Exit), nil
}

// draftDirectory begins a directory, likewise.
func (p *Program) draftDirectory(to string) (*draft, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return nil, err
	}
	sweepDrafts(filepath.Dir(to))
	path, err := os.MkdirTemp(filepath.Dir(to), draftPattern())
	if err != nil {
		return nil, err
	}
	return newDraft(nil, path, to, p.Err, os.Exit), nil
}

func newDraft(file *os.File, path, to string, w io.Writer, exit func(int)) *draft {
	d := &draft{File: file, path: path, to: to, signals: make(chan os.Signal, 1)}
	signal.Notify(d.signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(d.signals, syscall.SIGHUP)
	}
	go d.watch(w, exit)
	return d
}

// removals is how often a directory is emptied into which files may still come.
const removals = 10

// watch ends the program at a signal.
func (d *draft) watch(w io.Writer, exit func(int)) {
	s, ok := <-d.signals
	if !ok {
		return
	}
	for range removals {
		if os.RemoveAll(d.path) == nil {
			break
		}
	}
	fmt.Fprintf(w, "\naiperf: %v: %s was not written\n", s, d.to)
	status := 1
	if n, ok := s.(syscall.Signal); ok {
		status = 128 + int(n) // as shells tell it
	}
	exit(status)
}

// keep closes what was written and gives it its name.
func (d *draft) keep() error {
	if d.path == "" {
		return d.Close()
	}
	if d.File != nil {
		if err := errors.Join(d.Chmod(0o644), d.Close()); err != nil {
			return err
		}
	} else if err := os.Chmod(d.path, 0o755); err != nil {
		return err
	}
	return os.Rename(d.path, d.to)
}

// drop takes away what was not kept, and gives the signals back to the system.
func (d *draft) drop() {
	if d.signals != nil {
		signal.Stop(d.signals)
		close(d.signals)
	}
	if d.File != nil {
		_ = d.Close() // of no use any more, or closed
	}
	_ = os.RemoveAll(d.path) // it is gone when it was kept
}
