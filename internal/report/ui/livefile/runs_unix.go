//go:build unix

package livefile

import (
	"errors"
	"syscall"
)

// runs reports whether a process with this number exists.
func runs(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}
