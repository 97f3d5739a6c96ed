//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// pause stops a process; a process that has ended cannot be stopped.
func pause(p *os.Process) { p.Signal(syscall.SIGSTOP) }

// resume continues a stopped process.
func resume(p *os.Process) { p.Signal(syscall.SIGCONT) }

// peak returns the largest resident set of a process that has ended, in bytes.
func peak(s *os.ProcessState) int64 {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return resident(int64(r.Maxrss), runtime.GOOS) //nolint:unconvert // 32 bits on some systems
}
