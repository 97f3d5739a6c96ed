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

// draftPrefix is the prefix of draft names; the machine and the process follow.
const draftPrefix = ".aiperf-"

// draftPattern returns the name pattern of a draft of this process, for os.CreateTemp. Other machines may write to the same directory.
func draftPattern() string { return fmt.Sprintf("%s%s-%d-*", draftPrefix, machineName(), os.Getpid()) }

// machineName returns the name of this machine, reduced to letters and digits.
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
		return // a later write reports the error
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), draftPrefix+machineName()+"-")
		number, _, ok := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(number); ours && ok && err == nil && ended(pid) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // the draft is useless but harmless
		}
	}
}

// ended reports whether no process with this number exists any more.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
