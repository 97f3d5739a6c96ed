package mockserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/base/clock"
)

// Truth is one line of the truth log: what the server did for one request. Instants are Unix ns of the real-time clock.
type Truth struct {
	Number      uint64  `json:"n"`
	RequestID   string  `json:"request_id"`
	Correlation string  `json:"correlation_id,omitempty"`
	Path        string  `json:"path"`
	Stream      bool    `json:"stream"`
	Status      int     `json:"status"`
	Arrival     int64   `json:"arrival_ns"` // request body complete, as seen in user space
	Writes      []Write `json:"writes"`
	Tokens      int     `json:"tokens"` // visible tokens written
	Reasoning   int     `json:"reasoning_tokens"`
	Prompt      int     `json:"prompt_tokens"` // 0 = not requested
	Images      int     `json:"images,omitempty"`
	Outcome     string  `json:"outcome"` // ok, an error kind, client-gone, shutdown, bad-request
}

// Write is one write call: the instants just before and just after it, the instant at which it was due (0 = at once), the number of its content
// events and of their tokens.
type Write struct {
	Due, Before, After int64
	Events, Tokens     int
}

// MarshalJSON encodes the write as [due, before, after, events, tokens].
func (w Write) MarshalJSON() ([]byte, error) { return w.append(nil), nil }

func (w Write) append(b []byte) []byte {
	b = append(b, '[')
	for _, n := range []int64{w.Due, w.Before, w.After, int64(w.Events)} {
		b = strconv.AppendInt(b, n, 10)
		b = append(b, ',')
	}
	b = strconv.AppendInt(b, int64(w.Tokens), 10)
	return append(b, ']')
}

// UnmarshalJSON decodes the format of MarshalJSON.
func (w *Write) UnmarshalJSON(b []byte) error {
	var v [5]int64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*w = Write{v[0], v[1], v[2], int(v[3]), int(v[4])}
	return nil
}

// wallNow reads the real-time clock.
func wallNow() int64 { return time.Now().UnixNano() }

// bothClocks reads the monotonic and the real-time clock at the same moment. It repeats the reading if it lost the CPU in between.
func bothClocks() (at, wall int64) {
	for range 5 {
		at = clock.Now()
		wall = wallNow()
		if clock.Now()-at < int64(time.Microsecond) {
			break
		}
	}
	return at, wall
}

// truthLog writes the lines. A nil log writes nothing.
type truthLog struct {
	mu   sync.Mutex
	file *os.File
	buf  *bufio.Writer
	err  error
}

func openTruth(path string) (*truthLog, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("truth log: %w", err)
	}
	return &truthLog{file: f, buf: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (l *truthLog) write(t *Truth) {
	if l == nil {
		return
	}
	line, err := json.Marshal(t)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		_, err = l.buf.Write(append(line, '\n'))
	}
	if err == nil {
		err = l.buf.Flush()
	}
	if l.err == nil {
		l.err = err
	}
}

func (l *truthLog) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.buf.Flush(); l.err == nil {
		l.err = err
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.err
}
