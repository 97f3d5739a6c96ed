//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// ownGroup puts a program into a process group of its own, so that all of it can be ended.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
