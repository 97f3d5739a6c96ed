//go:build unix

package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"aiperf/internal/base/testhome"
)

// faulty in the environment makes the program fail in a separate goroutine when it gets SIGUSR1.
const faulty = "RUN_WITH_FAULT"

func faultOnSignal() {
	if os.Getenv(faulty) == "" {
		return
	}
	usr1 := make(chan os.Signal, 1)
	signal.Notify(usr1, syscall.SIGUSR1)
	go func() {
		<-usr1
		panic("a fault \x1b[31mof the test")
	}()
}

// TestTerminalIsGivenBack: however the program ends, by a fault in any goroutine, by the runtime, by a signal that nobody can catch, its terminal is
// as it was, and what was said of a fault can be read.
func TestTerminalIsGivenBack(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		says   string
	}{
		{"panic", syscall.SIGUSR1, `panic: a fault \x1b[31mof the test`}, {"SIGQUIT", syscall.SIGQUIT, ""}, {"SIGKILL", syscall.SIGKILL, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := program(t, "--ui", "dashboard", "--model", "mock", "--tokenizer", "builtin", "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--concurrency", "2",
				"--benchmark-duration", "600")
			s := startScreen(t, p, 100, 30, faulty+"=1")
			s.shows("1 s a cell")
			s.signal(c.signal)
			p.wait()
			until(t, "the modes of the terminal", func() bool { return s.modes() == s.before })
			if left := s.left(); !strings.Contains(left, c.says) {
				t.Errorf("no %q in what is left:\n%s", c.says, left)
			}
		})
	}
}
