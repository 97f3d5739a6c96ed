//go:build unix

package run

import (
	"math"
	"syscall"
	"time"
)

// openFileLimit returns the number of files that this process may open; 0 if unknown or unlimited.
func openFileLimit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || uint64(r.Cur) > math.MaxInt32 { //nolint:unconvert // signed on FreeBSD
		return 0
	}
	return int(r.Cur)
}

// processCPU returns the CPU time of the process so far; 0 if the system does not report it.
func processCPU() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}
