//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// pause holds a process up; one that has ended cannot be.
func pause(p *os.Process) { p.Signal(syscall.SIGSTOP) }

// resume lets it go on.
func resume(p *os.Process) { p.Signal(syscall.SIGCONT) }

// peak is the largest resident set of a process that has ended, in bytes.
func peak(s *os.ProcessState) int64 {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return resident(int64(r.Maxrss), runtime.GOOS) //nolint:unconvert // 32 bits on some systems
}
