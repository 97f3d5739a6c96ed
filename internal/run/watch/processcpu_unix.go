//go:build unix

package watch

import (
	"syscall"
	"time"
)

// ProcessCPU returns the CPU time of the process so far; 0 if the system does not report it.
func ProcessCPU() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}
