// Package livefile reads and writes the live file, in which a run publishes its state for other processes. A run updates it up to four times a second
// and removes it at its end. Readers do not disturb the run. The format is internal and may change with every version.
package livefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/report/ui/liveview"
)

// Name is the path of the file below the directory of a run.
const Name = "logs/live"

// LiveState is the content of the file.
type LiveState struct {
	Version string // of the program
	Run     string // id of the run, as in the summary
	Host    string
	PID     int64
	Written time.Time
	Log     int // number of log lines so far; the state contains the last of them
	State   liveview.State
}

// magic is the beginning of the file; its number is the version of the format.
const (
	magicWords = "aiperf live "
	magic      = magicWords + "6\n"
)

// Bytes encodes the file.
func (t *LiveState) Bytes() []byte {
	c := binenc.NewWriter([]byte(magic))
	t.visit(c)
	return c.Bytes()
}

func (t *LiveState) visit(c *binenc.Coder) {
	c.String(&t.Version)
	c.String(&t.Run)
	c.String(&t.Host)
	c.Int64(&t.PID)
	at := t.Written.UnixNano()
	c.Int64(&at)
	t.Written = time.Unix(0, at)
	c.Int(&t.Log)
	t.State.Visit(c)
}

// maxBytes limits what is read: a state takes some ten thousand bytes.
const maxBytes = 64 << 20

// Read reads the file of the run in a directory. If there is none, the error is fs.ErrNotExist.
func Read(dir string) (*LiveState, error) {
	path := filepath.Join(dir, Name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBytes {
		return nil, fmt.Errorf("%s is not a status file of a run", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ErrVersion means that another version of the program writes the file.
var ErrVersion = errors.New("another version of aiperf wrote it; watch the run with that version")

// Parse decodes the content of the file.
func Parse(data []byte) (*LiveState, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		if line, _, whole := bytes.Cut(data, []byte("\n")); whole && bytes.HasPrefix(line, []byte(magicWords)) {
			return nil, ErrVersion
		}
		return nil, errors.New("it does not begin like a status file of a run")
	}
	c := binenc.NewReader(rest)
	t := new(LiveState)
	t.visit(c)
	if c.Err() != nil {
		return nil, c.Err()
	}
	if len(c.Bytes()) > 0 {
		return nil, errors.New("it has unexpected data at the end")
	}
	return t, nil
}

// Find returns the directory at or below dir with a running run, the one with the latest update if there are several; "" = none.
func Find(dir string, now time.Time) (found string) {
	var last time.Time
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		run := filepath.Dir(filepath.Dir(path))
		if err == nil && !d.IsDir() && path == filepath.Join(run, Name) {
			if t, err := Read(run); err == nil && !t.isStale(now) && t.Written.After(last) {
				found, last = run, t.Written
			}
		}
		return nil // unreadable directories are skipped
	})
	return found
}
