//go:build unix

package program

import (
	"os"
	"syscall"
)

// killGroup signals the process group that a program leads.
func killGroup(leader *os.Process, now bool) {
	signal := syscall.SIGTERM
	if now {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-leader.Pid, signal) // an error means that the group has ended
}
