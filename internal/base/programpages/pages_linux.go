// Package programpages gives back memory of the program file: code and tables that the start of a program needs and the rest of its life does not.
package programpages

import (
	"bufio"
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Release gives back all pages of the program file that nobody can have written to. What is needed again is mapped again at its first use, 64 KB at a
// time, in a few microseconds; the system still has the content of the file. On a failure the pages stay, and also under a debugger, because they hold its
// breakpoints.
func Release() {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
		return
	}
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		if from, size := readOnly(lines.Bytes(), path); size > 0 {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, size, unix.MADV_DONTNEED)
		}
	}
}

// readOnly returns the address and the size in bytes of the mapping that a line of /proc/self/maps describes, if it maps a file and is not writable; else
// the size is 0.
func readOnly(line []byte, path string) (from, size uintptr) {
	f := bytes.Fields(line)
	if len(f) < 6 || string(bytes.Join(f[5:], []byte(" "))) != path || len(f[1]) != 4 || f[1][1] == 'w' {
		return 0, 0
	}
	begin, end, _ := bytes.Cut(f[0], []byte("-"))
	a, err := strconv.ParseUint(string(begin), 16, 64)
	if err != nil {
		return 0, 0
	}
	b, err := strconv.ParseUint(string(end), 16, 64)
	if err != nil || b < a {
		return 0, 0
	}
	return uintptr(a), uintptr(b - a)
}
