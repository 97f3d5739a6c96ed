package kubelet

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"time"
)

// logFile keeps the output of a container, every line with the time of its first byte in front.
type logFile struct {
	mu     sync.Mutex
	file   *os.File
	inLine bool
}

func newLog(path string) (*logFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &logFile{file: f}, nil
}

// Write adds output.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stamp := time.Now().UTC().Format(stampFormat) + " "
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		if !l.inLine {
			out.WriteString(stamp)
		}
		out.Write(line)
		l.inLine = line[len(line)-1] != '\n'
	}
	if _, err := l.file.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close closes the file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// stampFormat has a fixed width, so that stamps sort as text.
const stampFormat = "2006-01-02T15:04:05.000000000Z"

// logOptions say which lines of a log are wanted.
type logOptions struct {
	since      time.Time // zero: from the start
	tail       int       // last lines; negative: all
	timestamps bool
}

// lines returns the wanted lines of complete output.
func (o logOptions) lines(text string) string {
	var wanted []string
	for line := range strings.Lines(text) {
		stamp, rest, ok := strings.Cut(line, " ")
		if !ok || !o.since.IsZero() && stamp < o.since.UTC().Format(stampFormat) {
			continue
		}
		if !o.timestamps {
			line = rest
		}
		wanted = append(wanted, line)
	}
	if o.tail >= 0 && len(wanted) > o.tail {
		wanted = wanted[len(wanted)-o.tail:]
	}
	return strings.Join(wanted, "")
}
