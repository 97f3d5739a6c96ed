//go:build unix

// Package openfiles ends the process if the limit on open files is too low for any command. It must be initialized first, so it imports next to
// nothing. With 7 open files, a library that draws random numbers at start ends the process with a stack trace.
package openfiles

import (
	"os"
	"strconv"
	"syscall"
)

// minFiles is the minimum number of open files that the program needs.
const minFiles = 16

func init() {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) == nil && uint64(r.Cur) < minFiles { //nolint:unconvert // signed on FreeBSD
		os.Stderr.WriteString(tooFew(uint64(r.Cur))) //nolint:errcheck,unconvert // there is nobody else to tell
		os.Exit(1)
	}
}

// tooFew returns the message for a limit that is too low.
func tooFew(limit uint64) string {
	return "error: the limit of open files is " + strconv.FormatUint(limit, 10) + "; at least " + strconv.Itoa(minFiles) + " are needed. Type: ulimit -n 1024\n"
}
