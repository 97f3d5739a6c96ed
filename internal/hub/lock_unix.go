//go:build unix

package hub

import (
	"os"
	"syscall"
)

// lock takes a file for this process until it is closed; false = another one has it.
func lock(f *os.File) bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
