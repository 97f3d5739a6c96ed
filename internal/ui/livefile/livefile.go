// Package livefile is the file in which a run tells other processes how it goes on. A run writes it four times a second while it is there and takes
// it away when it is over; whoever reads it disturbs nobody. Its form is this program's own and may change with every version.
package livefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/marshal"
	"aiperf/internal/ui/board"
)

// Name is where the file is, below the directory of a run.
const Name = "logs/live"

// Told is what a run tells of itself.
type Told struct {
	Version string // of the program
	Run     string // its id, as the summary has it
	Host    string
	PID     int64
	Written time.Time
	Log     int // lines of the log so far; the state has the last of them
	State   board.State
}

// magic begins the file; the number is that of the form.
const (
	magicWords = "aiperf live "
	magic      = magicWords + "3\n"
)

// Bytes is the file.
func (t *Told) Bytes() []byte {
	c := marshal.NewWriter([]byte(magic))
	t.visit(c)
	return c.Bytes()
}

func (t *Told) visit(c *marshal.Coder) {
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

// mostBytes bounds what is read: a state takes some ten thousand.
const mostBytes = 64 << 20

// Read reads the file of the run in a directory. There is none: an error that is fs.ErrNotExist.
func Read(dir string) (*Told, error) {
	path := filepath.Join(dir, Name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostBytes {
		return nil, fmt.Errorf("%s is no file of a run", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ErrVersion is what another version of the program writes.
var ErrVersion = errors.New("another version of aiperf writes it; use that one to watch the run")

func parse(data []byte) (*Told, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		if line, _, whole := bytes.Cut(data, []byte("\n")); whole && bytes.HasPrefix(line, []byte(magicWords)) {
			return nil, ErrVersion
		}
		return nil, errors.New("it does not begin as a file of a run")
	}
	c := marshal.NewReader(rest)
	t := new(Told)
	t.visit(c)
	if c.Err() != nil {
		return nil, c.Err()
	}
	if len(c.Bytes()) > 0 {
		return nil, errors.New("there is more in it than a state")
	}
	return t, nil
}

// Find is the directory at or below dir whose run goes on, the one that spoke last if there are several; "" = none does.
func Find(dir string, now time.Time) (found string) {
	var last time.Time
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		run := filepath.Dir(filepath.Dir(path))
		if err == nil && !d.IsDir() && path == filepath.Join(run, Name) {
			if t, err := Read(run); err == nil && !t.left(now) && t.Written.After(last) {
				found, last = run, t.Written
			}
		}
		return nil // what cannot be read has nothing to show
	})
	return found
}
