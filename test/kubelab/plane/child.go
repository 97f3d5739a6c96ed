package plane

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// child is a process of the control plane.
type child struct {
	name    string
	command *exec.Cmd
	ended   chan struct{}
}

// run starts this program with other arguments. Its output is in NAME.log.
func (p *Plane) run(args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(p.options.Dir, args[0]+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	c := &child{name: args[0], command: exec.Command(self, args...), ended: make(chan struct{})}
	c.command.Stdout, c.command.Stderr = log, log
	// Own groups, so that Ctrl-C reaches only the parent, which ends them in order.
	c.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	if err := c.command.Start(); err != nil {
		return err
	}
	go func() {
		_ = c.command.Wait()
		close(c.ended)
	}()
	p.mu.Lock()
	p.children = append(p.children, c)
	p.mu.Unlock()
	return nil
}

// end ends a child by SIGTERM, or by SIGKILL after the given time.
func (c *child) end(grace time.Duration) {
	_ = c.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
		return
	case <-time.After(grace):
	}
	_ = c.command.Process.Kill()
	<-c.ended
}
