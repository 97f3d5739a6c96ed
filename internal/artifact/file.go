package artifact

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// WriteFile writes a whole file in one step: a reader sees the old one or the new one, never a part.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("artifact directory: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// stream is a file that grows line by line while the run goes on. Whatever ends the process, the file ends with a whole line.
type stream struct {
	f       *os.File
	w       *bufio.Writer
	n       int // lines written since the last flush
	flushed time.Time
	whole   int64 // bytes in the file, all of them whole lines
	failed  error // nothing more is written
}

// The file is brought up to date every flushLines lines, and with a line that comes flushAfter the last time.
const (
	flushLines = 100
	flushAfter = time.Second
)

// create makes the file and its directory, and cuts an older one to nothing.
func create(path string) (*stream, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("artifact directory: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create artifact: %w", err)
	}
	return &stream{f: f, w: bufio.NewWriterSize(f, 64<<10), flushed: time.Now()}, nil
}

// Write appends whole lines.
func (s *stream) Write(p []byte) error {
	if s.failed != nil {
		return s.failed
	}
	if len(p) > s.w.Available() { // else the buffer would empty itself in the middle of a line
		if err := s.Flush(); err != nil {
			return err
		}
	}
	if len(p) > s.w.Available() {
		if _, err := s.f.Write(p); err != nil {
			return s.broken(err)
		}
		s.whole += int64(len(p))
		return nil
	}
	s.w.Write(p) // fits
	if s.n++; s.n >= flushLines || time.Since(s.flushed) >= flushAfter {
		return s.Flush()
	}
	return nil
}

// Flush brings the file up to date.
func (s *stream) Flush() error {
	if s.failed != nil {
		return s.failed
	}
	s.n, s.flushed = 0, time.Now()
	size := s.w.Buffered()
	if err := s.w.Flush(); err != nil {
		return s.broken(err)
	}
	s.whole += int64(size)
	return nil
}

// broken cuts off the part of a line that a full disk left.
func (s *stream) broken(err error) error {
	_ = s.f.Truncate(s.whole) // a pipe cannot be cut
	s.failed = wrap(err)
	return s.failed
}

// Close completes the file.
func (s *stream) Close() error {
	err := s.Flush()
	if e := s.f.Close(); err == nil {
		err = wrap(e)
	}
	return err
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write artifact: %w", err) // names the file
}
