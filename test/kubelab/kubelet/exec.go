package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"kubelab/sandbox"
)

// serveExec answers "kubectl exec".
func (k *Kubelet) serveExec(w http.ResponseWriter, r *http.Request) {
	p, c := k.requested(w, r)
	if c == nil {
		return
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, executor{c}, p.object.Name, string(p.object.UID), c.spec.Name, r.URL.Query()["command"], options, streamIdle,
		streamCreation, remotecommand.SupportedStreamingProtocols)
}

// executor runs commands in a container.
type executor struct{ container *container }

// ExecInContainer runs a command until it ends. Terminals are not supported: it gets plain streams.
func (e executor) ExecInContainer(ctx context.Context, _, _, _ string, args []string, in io.Reader, out, errs io.WriteCloser, _ bool,
	_ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	run := e.container.live()
	if run == nil {
		return fmt.Errorf("container %s is not running", e.container.spec.Name)
	}
	c := sandbox.Exec(run.command.Process.Pid, run.spec, args)
	c.Stdout, c.Stderr, c.WaitDelay = out, errs, time.Second
	if errs == nil {
		c.Stderr = out
	}
	if in != nil {
		pipe, err := c.StdinPipe()
		if err != nil {
			return err
		}
		go func() { // not by the command: it would wait for a client that sends nothing more
			_, _ = io.Copy(pipe, in)
			_ = pipe.Close()
		}()
	}
	return exitError(runUntil(ctx, c))
}

// runUntil runs a command and kills it when the context ends.
func runUntil(ctx context.Context, c *exec.Cmd) error {
	if err := c.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	defer stop()
	return c.Wait()
}

// exitError gives an exit status in the form that the protocol sends.
func exitError(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

// execProbe runs the command of a probe.
func execProbe(ctx context.Context, c *container, args []string) error {
	run := c.live()
	if run == nil {
		return errors.New("the container is not running")
	}
	var out strings.Builder
	command := sandbox.Exec(run.command.Process.Pid, run.spec, args)
	command.Stdout, command.Stderr = &out, &out
	if err := runUntil(ctx, command); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out.String()))
	}
	return nil
}
