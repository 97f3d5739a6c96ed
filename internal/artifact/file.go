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

// WriteFile writes a whole file in one step: a reader sees the old one or the new one, never a part.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("artifact directory: %w", err)
	}
	f, err := createBeside(path)
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
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// createBeside makes a new file in the directory of another one, readable for whom the user's mask lets.
func createBeside(path string) (*os.File, error) {
	for n := os.Getpid(); ; n++ {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// MakeDir makes the directory of a run and what is above it. private: what it will hold is for its owner alone, bodies and headers as they
// went over the wire; a directory that is there already stays as it is.
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
	return os.MkdirAll(dir, 0o777) // an error if there is a file of that name
}

// Writable tells why no file can be made in a directory; nil = one can. It leaves none.
func Writable(dir string) error {
	f, err := createBeside(filepath.Join(dir, "try"))
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writing is held while a file grows: a process that ends meanwhile would leave a part of a line.
var writing sync.RWMutex

// AwaitWrites waits until no file is being written, and lets no write begin from then on. It gives up after a time, that of a disk which takes
// nothing any more: the process is to end.
func AwaitWrites(most time.Duration) (done bool) { return awaitWrites(&writing, most) }

func awaitWrites(writing *sync.RWMutex, most time.Duration) (done bool) {
	whole := make(chan struct{})
	go func() {
		writing.Lock() // for good
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

// stream is a file that grows line by line while the run goes on. Whatever ends the process, the file ends with a whole line.
type stream struct {
	f       *os.File
	buf     []byte // whole lines
	n       int    // of them
	flushed time.Time
	whole   int64 // bytes in the file, all of them whole lines
	failed  error // nothing more is written
}

// The file is brought up to date every flushLines lines or flushBytes bytes, and with a line that comes flushAfter the last time.
const (
	flushLines = 100
	flushBytes = 64 << 10
	flushAfter = time.Second
)

// create makes the file and its directory, and cuts an older one to nothing. A private file is for its owner alone.
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
		_ = f.Chmod(perm) // an older one of somebody else: whoever may write it reads what they like
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

// Flush brings the file up to date.
func (s *stream) Flush() error {
	if s.failed != nil {
		return s.failed
	}
	s.n, s.flushed = 0, time.Now()
	writing.RLock()
	defer writing.RUnlock()
	n, err := s.f.Write(s.buf)
	if err != nil { // a full disk: the part of a line that it took is cut off
		s.failed = wrap(err)
		_ = s.f.Truncate(s.whole + int64(bytes.LastIndexByte(s.buf[:n], '\n')) + 1) // a pipe cannot be cut
		return s.failed
	}
	s.whole += int64(n)
	s.buf = s.buf[:0]
	return nil
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
