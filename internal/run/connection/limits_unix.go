//go:build unix

package connection

import (
	"math"
	"syscall"
)

// openFileLimit returns the number of files that this process may open; 0 if unknown or unlimited.
func openFileLimit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || uint64(r.Cur) > math.MaxInt32 { //nolint:unconvert // signed on FreeBSD
		return 0
	}
	return int(r.Cur)
}
