//go:build unix

package livefile

import (
	"errors"
	"syscall"
)

// runs tells whether there is a process of a number.
func runs(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}
