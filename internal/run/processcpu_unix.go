//go:build unix

package run

import (
	"syscall"
	"time"
)

// processCPU returns the CPU time of the process so far; 0 if the system does not report it.
func processCPU() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}
