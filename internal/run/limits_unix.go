//go:build unix

package run

import (
	"math"
	"syscall"
	"time"
)

// openFileLimit is the number of files that this process may have open; 0 = unknown or unlimited.
func openFileLimit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || uint64(r.Cur) > math.MaxInt32 { //nolint:unconvert // signed on FreeBSD
		return 0
	}
	return int(r.Cur)
}

// processCPU is the processor time of the process so far; 0 where the system does not tell.
func processCPU() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}
