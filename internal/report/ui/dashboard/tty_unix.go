//go:build unix

package dashboard

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// foreground tells whether this process may use its terminal: in the background it would be stopped.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
