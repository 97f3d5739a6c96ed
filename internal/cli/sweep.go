package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// draftPrefix begins the names of drafts; the machine and the process that writes follow.
const draftPrefix = ".aiperf-"

// draftPattern is the name of a draft of this process, for os.CreateTemp. Other machines may write to the same directory.
func draftPattern() string { return fmt.Sprintf("%s%s-%d-*", draftPrefix, machineName(), os.Getpid()) }

// machineName is the name of this machine with letters and digits alone.
func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		return "x"
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// sweepDrafts removes the drafts of killed processes of this machine from a directory.
func sweepDrafts(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // writing there tells why
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), draftPrefix+machineName()+"-")
		number, _, ok := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(number); ours && ok && err == nil && ended(pid) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // of no use, and not in the way
		}
	}
}

// ended reports whether no process has a number any more.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
