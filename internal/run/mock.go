package run

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

	"aiperf/internal/mockserver"
)

// mockScheme marks a URL that stands for the simulated server.
const mockScheme = "mock://"

// mockStart is the longest that a simulated server may take to listen; on a machine with much else to do a process may need many seconds.
const mockStart = time.Minute

// mockChild is a simulated server in a process of its own: in this one it would share the scheduler and the collector with the client, and
// spoil what it is there to prove.
type mockChild struct {
	cmd  *exec.Cmd
	life io.WriteCloser // its standard input: the child ends when it is closed, also when this process dies
	url  string
}

// startMock starts the server that a mock:// URL, given by the setting as, describes and waits until it listens. Its path becomes part of the returned URL.
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
		return nil, fmt.Errorf("%s %s: this program cannot find itself to start the simulated server: %w", as, raw, err)
	}
	cmd := exec.Command(exe, append([]string{"mock-server", "--port=0", "--lifeline"}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = ownGroup() // Ctrl-C is for the client, which ends the server when it is done
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

// announced reads the address that the server prints once it listens, as the last word of its first line.
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
	timer := time.NewTimer(mockStart)
	defer timer.Stop()
	select {
	case r := <-lines:
		words := strings.Fields(r.line)
		if r.err != nil || len(words) == 0 {
			return "", fmt.Errorf("ended before it listened: %w", r.err)
		}
		return words[len(words)-1], nil
	case <-timer.C:
		return "", fmt.Errorf("did not listen within %v", mockStart)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// stop ends the server.
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

// mockServers is the component that runs the servers of all mock:// URLs, one for each distinct URL.
type mockServers struct {
	passive
	as       string   // the setting that holds them, in the user's words
	asked    []string // URLs as given
	urls     []string // where they really lead
	children map[string]*mockChild
}

// Start implements component.
func (s *mockServers) Start(ctx context.Context) error {
	s.children = map[string]*mockChild{}
	s.urls = make([]string, len(s.asked))
	for i, u := range s.asked {
		s.urls[i] = u
		if !strings.HasPrefix(u, mockScheme) {
			continue
		}
		if s.children[u] == nil {
			m, err := startMock(ctx, s.as, u)
			if err != nil {
				return errors.Join(err, s.Stop(ctx))
			}
			s.children[u] = m
		}
		s.urls[i] = s.children[u].url
	}
	return nil
}

// Stop implements component.
func (s *mockServers) Stop(context.Context) error {
	for _, m := range s.children {
		m.stop()
	}
	return nil
}
