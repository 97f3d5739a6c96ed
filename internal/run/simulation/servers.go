// Package simulation starts the simulated servers of a run as processes, and stops them.
package simulation

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"aiperf/internal/run/component"
	"aiperf/internal/sim/mockserver"
)

// startLimit is the time limit for a simulated server to start listening; on a busy machine a process may need many seconds.
const startLimit = time.Minute

// mockChild is a simulated server in a separate process. In this process it would share the scheduler and the garbage collector with the client and
// disturb the measurement.
type mockChild struct {
	cmd  *exec.Cmd
	life io.WriteCloser // its standard input: the child exits when it is closed, even if this process dies
	url  string
}

// startMock starts the server of a mock:// URL and waits until it listens. as is the spelling of the setting that holds the URL. The path of the URL
// becomes part of the returned one.
func startMock(ctx context.Context, as, raw string) (*mockChild, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", as, raw, err)
	}
	args, err := mockserver.Args(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", as, raw, err)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%s %s: aiperf cannot find its own program file to start the simulated server: %w", as, raw, err)
	}
	cmd := exec.Command(exe, append([]string{"mock-server", "--port=0", "--lifeline"}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = ownGroup() // Ctrl-C is handled by the client, which stops the server at its end
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	m := &mockChild{cmd: cmd, life: life}
	m.url, err = announced(ctx, out)
	if err != nil {
		m.stop()
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	m.url += strings.TrimSuffix(u.Path, "/")
	return m, nil
}

// announced reads the server's address: the last word of the first line that it prints once it listens.
func announced(ctx context.Context, out io.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	lines := make(chan result, 1)
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		lines <- result{line, err}
	}()
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case r := <-lines:
		words := strings.Fields(r.line)
		if r.err != nil || len(words) == 0 {
			return "", fmt.Errorf("exited before it listened: %w", r.err)
		}
		return words[len(words)-1], nil
	case <-timer.C:
		return "", fmt.Errorf("did not listen within %v", startLimit)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// stop stops the server.
func (m *mockChild) stop() {
	_ = m.life.Close()
	done := make(chan error, 1)
	go func() { done <- m.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		if err := m.cmd.Process.Kill(); err == nil || errors.Is(err, os.ErrProcessDone) {
			<-done
		}
	}
}

// Servers is the component that runs the servers of all mock:// URLs, one for each distinct URL.
type Servers struct {
	component.Passive
	Setting  string   // setting that holds the URLs, as the user spells it
	Given    []string // URLs as given
	URLs     []string // URLs of the started servers
	children map[string]*mockChild
}

// Start implements component.
func (s *Servers) Start(ctx context.Context) error {
	s.children = map[string]*mockChild{}
	s.URLs = make([]string, len(s.Given))
	for i, u := range s.Given {
		s.URLs[i] = u
		if !strings.HasPrefix(u, mockserver.Scheme) {
			continue
		}
		if s.children[u] == nil {
			m, err := startMock(ctx, s.Setting, u)
			if err != nil {
				return errors.Join(err, s.Stop(ctx))
			}
			s.children[u] = m
		}
		s.URLs[i] = s.children[u].url
	}
	return nil
}

// Stop implements component.
func (s *Servers) Stop(context.Context) error {
	for _, m := range s.children {
		m.stop()
	}
	return nil
}
