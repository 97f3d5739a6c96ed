//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// screen is the program at a terminal that no other test uses.
type screen struct {
	*process
	tty, slave *os.File
	before     unix.Termios

	reads sync.Mutex // held by a terminal that reads nothing

	mu   sync.Mutex
	all  bytes.Buffer
	mark int
	more chan struct{} // something came
	done chan struct{}
}

// atTerminal starts the program with a dashboard on a terminal of a size.
func atTerminal(t *testing.T, width, height uint16, args ...string) *screen {
	t.Helper()
	p := program(t, append([]string{"--ui", "dashboard", "--model", "mock", "--tokenizer", "builtin"}, args...)...)
	return startScreen(t, p, width, height)
}

func startScreen(t *testing.T, p *process, width, height uint16, environ ...string) *screen {
	t.Helper()
	tty, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{process: p, tty: tty, slave: slave, more: make(chan struct{}, 1), done: make(chan struct{})}
	t.Cleanup(func() { slave.Close(); tty.Close() })
	if err := pty.Setsize(tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		t.Fatal(err)
	}
	s.before = s.modes()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "COLUMNS=", "NO_COLOR=")
	p.cmd.Env = append(p.cmd.Env, environ...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.start()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	go func() {
		defer close(s.done)
		buffer := make([]byte, 64<<10)
		for {
			s.reads.Lock()
			n, err := tty.Read(buffer)
			s.reads.Unlock()
			s.mu.Lock()
			s.all.Write(buffer[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

// fill stops the terminal from accepting output, because reads is held. It writes through a separate file descriptor, so that nobody else's writes stop waiting.
func (s *screen) fill() {
	s.t.Helper()
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", s.slave.Fd()), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer unix.Close(fd)
	for err == nil {
		_, err = unix.Write(fd, make([]byte, 1))
	}
	if !errors.Is(err, unix.EAGAIN) {
		s.t.Fatal(err)
	}
}

func (s *screen) modes() unix.Termios {
	s.t.Helper()
	m, err := unix.IoctlGetTermios(int(s.slave.Fd()), getModes)
	if err != nil {
		s.t.Fatal(err)
	}
	return *m
}

// sequences are what a terminal obeys.
var sequences = regexp.MustCompile("\x1b(\\[[0-9;?<>=$]*[A-Za-z]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[()][0-9A-B]|[=>78M])")

// text is what came since the mark, without what moves the cursor.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sequences.ReplaceAllString(s.all.String()[s.mark:], "")
}

func (s *screen) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// shows waits until the terminal shows texts.
func (s *screen) shows(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		for end := time.After(patience / 2); !strings.Contains(s.text(), text); {
			select {
			case <-s.more:
			case <-end:
				s.t.Fatalf("%q is not shown; shown is\n%s", text, s.text())
			}
		}
	}
}

// types types keys; what is shown from then on counts.
func (s *screen) types(keys string) {
	s.t.Helper()
	s.mu.Lock()
	s.mark = s.all.Len()
	s.mu.Unlock()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) resize(width, height uint16) {
	s.t.Helper()
	s.mu.Lock()
	s.mark = s.all.Len()
	s.mu.Unlock()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end, checks that the terminal is as it was, and returns the status and what stays on the screen.
func (s *screen) ends() (status int, left string) {
	s.t.Helper()
	status = s.wait()
	return status, s.left()
}

// left is ends without the wait for the end, which has come.
func (s *screen) left() string {
	s.t.Helper()
	after := s.modes()
	s.slave.Close()
	<-s.done
	raw := s.raw()
	if after != s.before {
		s.t.Errorf("the modes of the terminal were %+v and are %+v", s.before, after)
	}
	for _, mode := range []struct {
		name, on, off string
	}{
		{"screen", "\x1b[?1049h", "\x1b[?1049l"}, {"cursor", "\x1b[?25l", "\x1b[?25h"}, {"paste", "\x1b[?2004h", "\x1b[?2004l"},
		{"mouse", "\x1b[?1002h", "\x1b[?1002l"}, {"mouse", "\x1b[?1006h", "\x1b[?1006l"},
	} {
		if on, off := strings.LastIndex(raw, mode.on), strings.LastIndex(raw, mode.off); on > off {
			s.t.Errorf("the %s is not given back", mode.name)
		}
	}
	at := strings.LastIndex(raw, "\x1b[?1049l")
	if at < 0 {
		s.t.Fatalf("there was no view\n%s", raw)
	}
	return sequences.ReplaceAllString(raw[at:], "")
}
