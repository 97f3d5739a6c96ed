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

// draftFile is a file or a directory that is being written. It has a temporary name next to its destination and is renamed when it is complete. A
// signal that ends the program removes it. Pipes and devices are written directly.
type draftFile struct {
	*os.File        // nil for a directory
	path     string // "" for a pipe
	to       string
	signals  chan os.Signal
}

// draftFile creates a draft of a file. The caller must call drop in any case.
func (p *Program) draftFile(to string) (*draftFile, error) {
	if info, err := os.Stat(to); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("%s is a directory", to)
		case !info.Mode().IsRegular():
			file, err := os.OpenFile(to, os.O_WRONLY, 0)
			return &draftFile{File: file, to: to}, err
		}
		if to, err = filepath.EvalSymlinks(to); err != nil { // keep a symbolic link and replace its target
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

// draftDirectory creates a draft of a directory; the caller must call drop too.
func (p *Program) draftDirectory(to string) (*draftFile, error) {
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

func newDraft(file *os.File, path, to string, w io.Writer, exit func(int)) *draftFile {
	d := &draftFile{File: file, path: path, to: to, signals: make(chan os.Signal, 1)}
	signal.Notify(d.signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // started with nohup: leave it ignored
		signal.Notify(d.signals, syscall.SIGHUP)
	}
	go d.watch(w, exit)
	return d
}

// removals is how often the removal of a directory is tried, because files may still be written to it.
const removals = 10

// watch exits the program after a signal and removes the draft.
func (d *draftFile) watch(w io.Writer, exit func(int)) {
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
		status = 128 + int(n) // as shells report it
	}
	exit(status)
}

// commit closes the draft and gives it its final name.
func (d *draftFile) commit() error {
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

// drop removes a draft that was not kept, and stops handling signals.
func (d *draftFile) drop() {
	if d.signals != nil {
		signal.Stop(d.signals)
		close(d.signals)
	}
	if d.File != nil {
		_ = d.Close() // it is useless now, or already closed
	}
	_ = os.RemoveAll(d.path) // it does not exist if it was kept
}
