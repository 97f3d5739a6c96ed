package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/terminal"
)

// process is a program that runs a worker: this program itself, or a shell that starts it on another computer.
type process struct {
	host   string // "" = this computer
	words  []string
	token  string
	cmd    *exec.Cmd
	errors lastLines
	ended  chan struct{}
}

// localProcess returns a worker on this computer. The token travels over its standard input.
func localProcess(words []string, token string) *process {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return &process{words: append([]string{self}, words...), token: token}
}

// shellProcess returns a worker on another computer. The token travels over the standard input of the shell.
func shellProcess(shell, host string, worker []string, token string) (*process, error) {
	words := []string{"ssh", "-o", "BatchMode=yes", "--", host}
	if shell != "" {
		words = strings.Fields(shell)
		found := false
		for i, w := range words {
			if strings.Contains(w, "{}") {
				words[i], found = strings.ReplaceAll(w, "{}", host), true
			}
		}
		if len(words) == 0 {
			return nil, fmt.Errorf("the shell for %s has no words", host)
		}
		if !found {
			words = append(words, host)
		}
	}
	return &process{host: host, words: append(append(words, "aiperf"), worker...), token: token}, nil
}

// start starts the process. ended is called once it has ended, with what it said.
func (p *process) start(ctx context.Context, ended func(why string)) error {
	p.cmd = exec.CommandContext(ctx, p.words[0], p.words[1:]...)
	p.cmd.Stderr = &p.errors
	p.cmd.SysProcAttr = ownGroup()
	p.cmd.Stdin = strings.NewReader(p.token + "\n")
	p.ended = make(chan struct{})
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("a worker cannot be started: %w", err)
	}
	go func() {
		err := p.cmd.Wait()
		close(p.ended)
		why := "its process ended"
		if err != nil {
			why += " with " + err.Error()
		}
		if said := p.errors.text(); said != "" {
			why += ": " + said
		}
		ended(why)
	}()
	return nil
}

// end waits until the process ends, and kills it after a time.
func (p *process) end(wait time.Duration) {
	select {
	case <-p.ended:
		return
	case <-time.After(max(0, wait)):
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// lastLines keeps the end of what a process says.
type lastLines struct {
	mu  sync.Mutex
	end []byte
}

// linesKept is the number of bytes that are kept.
const linesKept = 2000

var _ io.Writer = (*lastLines)(nil)

// Write implements io.Writer.
func (l *lastLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = append(l.end, b...)
	if n := len(l.end) - linesKept; n > 0 {
		l.end = bytes.Clone(l.end[n:])
	}
	return len(b), nil
}

// text returns the last line.
func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(l.end)), "\n")
	return terminal.Line(strings.TrimPrefix(lines[len(lines)-1], "error: "))
}
