package mockserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// ParentFlag is the flag of `aiperf mock-server` that makes it end when its standard input does, hence with its parent.
const ParentFlag = "end-with-stdin"

// readyPrefix begins the line that a server prints when it listens.
const readyPrefix = "mock server listening on "

// ReadyLine is the line that a server prints when it listens.
func ReadyLine(url string) string { return readyPrefix + url }

// UntilEOF ends the context when r does: the parent of a child process holds the other end.
func UntilEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}

// Child is a mock server in a process of its own: in the client's process it would share the scheduler that it is there to check.
type Child struct {
	URL   string // http://host:port
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan error
}

// startLimit is how long a child may take until it listens.
const startLimit = 20 * time.Second

// Start runs executable mock-server with the knobs of a mock:// URL (its RawQuery) on a free loopback port and waits until it listens.
// It ends with Stop, with the context, or with this process.
func Start(ctx context.Context, executable, query string) (*Child, error) {
	args, err := Args(query)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(executable, append([]string{"mock-server", "--host=127.0.0.1", "--port=0", "--" + ParentFlag}, args...)...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	isolate(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("mock server: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("mock server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("mock server: %w", err)
	}
	c := &Child{cmd: cmd, stdin: stdin, ended: make(chan error, 1)}
	found := make(chan string, 1)
	go func() {
		found <- firstURL(stdout)
		_, _ = io.Copy(io.Discard, stdout)
		c.ended <- cmd.Wait()
	}()
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	reason := "it ended"
	select {
	case c.URL = <-found:
		if c.URL != "" {
			return c, nil
		}
	case <-ctx.Done():
		reason = ctx.Err().Error()
	case <-limit.C:
		reason = fmt.Sprintf("nothing after %v", startLimit)
	}
	err = c.Stop()
	return nil, errors.Join(fmt.Errorf("mock server did not start: %s: %s", reason, strings.TrimSpace(complaint.String())), err)
}

// firstURL reads lines until the one that tells where the server listens; "" = the output ended.
func firstURL(r io.Reader) string {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), readyPrefix); ok {
			return strings.TrimSpace(url)
		}
	}
	return ""
}

// Pid is the process id of the server.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// stopLimit is how long a child may take to end by itself.
const stopLimit = 5 * time.Second

// Stop ends the server and waits for it.
func (c *Child) Stop() error {
	_ = c.stdin.Close()
	limit := time.NewTimer(stopLimit)
	defer limit.Stop()
	select {
	case err := <-c.ended:
		return err
	case <-limit.C:
		_ = c.cmd.Process.Kill()
		<-c.ended
		return fmt.Errorf("mock server did not end within %v and was killed", stopLimit)
	}
}
