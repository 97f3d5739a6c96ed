//go:build unix

// Package openfiles ends a process that may not open the files that any command needs. It is the first package to be initialized, since it needs
// next to nothing: with 7 open files a library that draws random numbers when it starts ends the process with a stack trace.
package openfiles

import (
	"os"
	"strconv"
	"syscall"
)

// least is how many open files the program needs at the least.
const least = 16

func init() {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) == nil && uint64(r.Cur) < least { //nolint:unconvert // signed on FreeBSD
		os.Stderr.WriteString(tooFew(uint64(r.Cur))) //nolint:errcheck,unconvert // there is nobody else to tell
		os.Exit(1)
	}
}

// tooFew is the message for a limit that is too low.
func tooFew(limit uint64) string {
	return "error: the limit of open files is " + strconv.FormatUint(limit, 10) + "; at least " + strconv.Itoa(least) + " are needed. Type: ulimit -n 1024\n"
}
