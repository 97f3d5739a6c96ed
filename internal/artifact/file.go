package artifact

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
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

// stream is a file that grows line by line while the run goes on.
type stream struct {
	path string
	f    *os.File
	w    *bufio.Writer
	n    int // lines written since the last flush
}

// flushEvery lines the file is brought up to date.
const flushEvery = 100

// create makes the file and its directory, and cuts an older one to nothing.
func create(path string) (*stream, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("artifact directory: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create artifact: %w", err)
	}
	return &stream{path: path, f: f, w: bufio.NewWriterSize(f, 64<<10)}, nil
}

// Write appends whole lines.
func (s *stream) Write(p []byte) error {
	_, err := s.w.Write(p)
	if s.n++; err == nil && s.n >= flushEvery {
		s.n = 0
		err = s.w.Flush()
	}
	return s.wrap(err)
}

// Flush brings the file up to date.
func (s *stream) Flush() error { return s.wrap(s.w.Flush()) }

// Close completes the file.
func (s *stream) Close() error {
	err := s.w.Flush()
	if e := s.f.Close(); err == nil {
		err = e
	}
	return s.wrap(err)
}

func (s *stream) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", s.path, err)
}
