package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// WriteFile replaces a whole file in one step: a reader sees the old or the new content, never a part.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("artifact directory: %w", err)
	}
	f, err := createDraft(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		if cause := errors.Unwrap(err); cause != nil { // err names the draft
			err = cause
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// CanWrite returns an error if WriteFile could not write to path. It changes nothing: in the nearest folder that exists it creates a file and removes it.
func CanWrite(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; name a file", path)
	}
	dir := filepath.Dir(path)
	for {
		info, err := os.Stat(dir)
		switch up := filepath.Dir(dir); {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s cannot be written, because %s is a file; name a file in a folder", path, dir)
		case err == nil:
			return canCreate(path, dir)
		case up == dir:
			return err
		default:
			dir = up
		}
	}
}

// canCreate returns an error if no file can be created in a folder.
func canCreate(path, dir string) error {
	f, err := createDraft(filepath.Join(dir, filepath.Base(path)))
	if err != nil {
		return fmt.Errorf("%s cannot be written, because no file can be created in %s: %w; name a file elsewhere", path, dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// createDraft creates a temporary file in the directory of path, with the permissions of the user's umask.
func createDraft(path string) (*os.File, error) {
	for n := os.Getpid(); ; n++ {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// MakeDir creates the directory of a run and its parents. private: only the owner can read it, because it will contain bodies and headers as sent. The
// permissions of an existing directory do not change.
func MakeDir(dir string, private bool) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o777); err != nil {
		return err
	}
	perm := os.FileMode(0o777)
	if private {
		perm = 0o700
	}
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.MkdirAll(dir, 0o777) // returns an error if there is a file of that name
}

// Writable returns why no file can be created in a directory; nil if one can. It leaves no file.
func Writable(dir string) error {
	f, err := createDraft(filepath.Join(dir, "try"))
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writing is locked during writes to files that grow: a process that ended in between would leave an incomplete line.
var writing sync.RWMutex

// AwaitWrites waits until no file is being written and blocks all later writes, because the process is about to exit. It gives up after most, for
// example if a disk does not respond.
func AwaitWrites(most time.Duration) (done bool) { return awaitWrites(&writing, most) }

func awaitWrites(writing *sync.RWMutex, most time.Duration) (done bool) {
	whole := make(chan struct{})
	go func() {
		writing.Lock() // never unlocked
		close(whole)
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-whole:
		return true
	case <-timer.C:
		return false
	}
}

// stream is a file that grows by whole lines during a run. However the process ends, the file ends with a whole line.
type stream struct {
	f       *os.File
	buf     []byte // whole lines
	n       int    // number of lines in buf
	flushed time.Time
	whole   int64 // size of the file in bytes; it ends with a whole line
	failed  error // after an error nothing more is written
}

// The buffer is flushed after flushLines lines, after flushBytes bytes, and by a line that comes flushAfter or later after the last flush.
const (
	flushLines = 100
	flushBytes = 64 << 10
	flushAfter = time.Second
)

// create creates or truncates the file and creates its directory. Only the owner can read a private file.
func create(path string, private bool) (*stream, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("artifact directory: %w", err)
	}
	perm := os.FileMode(0o666)
	if private {
		perm = 0o600
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return nil, fmt.Errorf("create artifact: %w", err)
	}
	if info, err := f.Stat(); private && err == nil && info.Mode().IsRegular() && info.Mode().Perm() != perm {
		_ = f.Chmod(perm) // an existing file may have wider permissions
	}
	return &stream{f: f, flushed: time.Now()}, nil
}

// Write appends whole lines.
func (s *stream) Write(p []byte) error {
	if s.failed != nil {
		return s.failed
	}
	s.buf = append(s.buf, p...)
	if s.n++; s.n >= flushLines || len(s.buf) >= flushBytes || time.Since(s.flushed) >= flushAfter {
		return s.Flush()
	}
	return nil
}

// Flush writes the buffer to the file.
func (s *stream) Flush() error {
	if s.failed != nil {
		return s.failed
	}
	s.n, s.flushed = 0, time.Now()
	writing.RLock()
	defer writing.RUnlock()
	n, err := s.f.Write(s.buf)
	if err != nil { // the disk may be full: remove the incomplete line that it accepted
		s.failed = err                                                              // it names the file
		_ = s.f.Truncate(s.whole + int64(bytes.LastIndexByte(s.buf[:n], '\n')) + 1) // fails for a pipe
		return s.failed
	}
	s.whole += int64(n)
	s.buf = s.buf[:0]
	return nil
}

// Close flushes and closes the file.
func (s *stream) Close() error {
	err := s.Flush()
	if e := s.f.Close(); err == nil {
		err = e
	}
	return err
}
