//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// execution is one program that runs.
type execution struct {
	runner
	job         Job
	out, faults *limited
}

// channels are the parent's ends of what a program and its stages read and write.
type channels struct {
	job, plan, verdict *os.File
	child              []*os.File // the other ends, from jobDescriptor on
}

// openChannels opens the pipes and this program's file.
func openChannels() (c channels, err error) {
	for _, end := range []**os.File{&c.job, &c.verdict, &c.plan} {
		r, w, err := os.Pipe()
		if err != nil {
			c.close()
			return c, err
		}
		if end == &c.verdict {
			r, w = w, r
		}
		*end, c.child = w, append(c.child, r)
	}
	binary, err := os.Open("/proc/self/exe")
	if err != nil {
		c.close()
		return c, err
	}
	c.child = append(c.child, binary)
	return c, nil
}

// closeChild closes the ends of the child.
func (c *channels) closeChild() {
	for _, f := range c.child {
		_ = f.Close() // the child has its own
	}
	c.child = nil
}

func (c *channels) close() {
	c.closeChild()
	for _, f := range []*os.File{c.job, c.plan, c.verdict} {
		_ = f.Close() // nothing of use comes any more; nil is an error
	}
}

// run runs the program. It returns what the driver said of the end, and which bound of the whole group was exceeded.
func (e execution) run(ctx context.Context) (verdict, excess string, err error) {
	job, err := encode(e.job)
	if err != nil {
		return "", "", err
	}
	plans, err := e.launch.plans(e.runner)
	if err != nil {
		return "", "", err
	}
	plan, err := encodePlans(plans)
	if err != nil {
		return "", "", err
	}
	c, err := openChannels()
	if err != nil {
		return "", "", err
	}
	defer c.close()
	return e.converse(ctx, c, job, plan)
}

// converse starts the first stage, gives it the plan and the job, and waits for the end of all processes.
func (e execution) converse(ctx context.Context, c channels, job, plan []byte) (verdict, excess string, err error) {
	runtime.LockOSThread() // the kernel kills the sandbox when this thread ends: it must live as long
	defer runtime.UnlockOSThread()
	cmd := e.command(ctx)
	cmd.ExtraFiles = c.child
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	c.closeChild()
	group := newGroup(cmd.Process.Pid, e.bounds)
	defer group.close()
	said := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(c.verdict, mostOutput)) // what was said before the end counts
		said <- string(b)
	}()
	go func() {
		_, _ = c.plan.Write(plan) // a stage that reads nothing fails by itself
		_, _ = c.job.Write(job)   // a child that reads nothing says nothing
		_ = c.job.Close()
	}()
	watch := group.watch(func() { _ = cmd.Cancel() })
	err = cmd.Wait()
	excess = watch()
	_ = c.verdict.SetReadDeadline(time.Now().Add(time.Second)) // a descendant may hold the descriptor
	return <-said, excess, err
}

// command is the first stage, a process of this program.
func (e execution) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", stageWord)
	cmd.Env = []string{} // not ours
	cmd.SysProcAttr = e.launch.attributes()
	cmd.Cancel = func() error { return cmd.Process.Kill() } // the first process of a process namespace takes all others along
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = e.out, e.faults
	if e.job.Function == "" {
		cmd.Stdin = strings.NewReader(e.job.Input)
	}
	return cmd
}
