package program

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/terminal"
)

// Bounds of what a program's standard error adds to the log.
const (
	mostStderrLine = 2000 // bytes of one line
	stderrBurst    = 50   // lines at once
	stderrRate     = 10   // lines per second after that
)

// stderrLog copies the standard error of a program to the log. It always reads, so that the program never waits.
type stderrLog struct {
	name  string
	write func(line string)
	done  chan struct{}

	mu      sync.Mutex
	last    string // latest line that is not empty
	budget  float64
	checked time.Time
	dropped int
}

func logStderr(from *os.File, name string, write func(string)) *stderrLog {
	l := &stderrLog{name: name, write: write, done: make(chan struct{}), budget: stderrBurst, checked: time.Now()}
	go l.read(from)
	return l
}

func (l *stderrLog) read(from *os.File) {
	defer close(l.done)
	in := bufio.NewReaderSize(from, mostStderrLine)
	for {
		line, err := in.ReadSlice('\n')
		text := string(line)
		if len(line) > 0 {
			l.take(text)
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line is not logged
			_, err = in.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

// take logs a line if the rate allows it.
func (l *stderrLog) take(line string) {
	line = terminal.Line(strings.TrimRight(line, "\r\n"))
	if strings.TrimSpace(line) == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = line
	now := time.Now()
	l.budget = min(stderrBurst, l.budget+now.Sub(l.checked).Seconds()*stderrRate)
	l.checked = now
	if l.budget < 1 {
		l.dropped++
		return
	}
	l.budget--
	l.flushDropped()
	l.write("plug-in " + l.name + ": " + line)
}

// flushDropped says how many lines were skipped.
func (l *stderrLog) flushDropped() {
	if l.dropped > 0 {
		l.write(fmt.Sprintf("plug-in %s: %d more lines on standard error are not shown", l.name, l.dropped))
		l.dropped = 0
	}
}

// lastLine returns the latest line, after waiting for the end of the output for at most this time.
func (l *stderrLog) lastLine(wait time.Duration) string {
	l.await(wait)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// await waits for the end of the output.
func (l *stderrLog) await(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-l.done:
	case <-timer.C:
	}
}

// finish waits for the end of the copy. The pipe is closed already.
func (l *stderrLog) finish() {
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushDropped()
}
