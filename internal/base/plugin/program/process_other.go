//go:build !unix

package program

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func sealDescriptors() {}

func awaitUnreaped(int) bool { return false }

// killGroup ends the program; this system has no process groups.
func killGroup(leader *os.Process, _ bool) {
	_ = leader.Kill() // an error means that it has ended
}
