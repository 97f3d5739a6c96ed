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

// execution is one run of a program.
type execution struct {
	runner
	job         Job
	out, faults *limitedBuffer
}

// channels are the parent's ends of the pipes to a program and its stages.
type channels struct {
	job, plan, verdict *os.File
	child              []*os.File // the child's ends, from jobDescriptor on
}

// openChannels opens the pipes and this program's executable.
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

// closeChild closes the child's ends in this process.
func (c *channels) closeChild() {
	for _, f := range c.child {
		_ = f.Close() // the child has its own descriptors
	}
	c.child = nil
}

func (c *channels) close() {
	c.closeChild()
	for _, f := range []*os.File{c.job, c.plan, c.verdict} {
		_ = f.Close() // the data are complete or no longer needed; closing nil only returns an error
	}
}

// run runs the program. It returns the driver's verdict, and which limit of the whole group was exceeded.
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

// converse starts the first stage, sends it the plan and the job, and waits for the end of all processes.
func (e execution) converse(ctx context.Context, c channels, job, plan []byte) (verdict, excess string, err error) {
	runtime.LockOSThread() // the kernel kills the sandbox when this thread ends, so the thread must live as long
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
		b, _ := io.ReadAll(io.LimitReader(c.verdict, maxOutput)) // output before the end counts
		said <- string(b)
	}()
	go func() {
		_, _ = c.plan.Write(plan) // a stage that does not read fails by itself
		_, _ = c.job.Write(job)   // a child that does not read returns no verdict
		_ = c.job.Close()
	}()
	watch := group.watch(func() { _ = cmd.Cancel() })
	err = cmd.Wait()
	excess = watch()
	_ = c.verdict.SetReadDeadline(time.Now().Add(time.Second)) // a descendant may still hold the descriptor
	return <-said, excess, err
}

// command returns the command of the first stage, which is a process of this program.
func (e execution) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", stageWord)
	cmd.Env = []string{} // empty: not that of aiperf
	cmd.SysProcAttr = e.launch.attributes()
	cmd.Cancel = func() error { return cmd.Process.Kill() } // the death of the first process of a PID namespace ends all others
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = e.out, e.faults
	if e.job.Function == "" {
		cmd.Stdin = strings.NewReader(e.job.Input)
	}
	return cmd
}
