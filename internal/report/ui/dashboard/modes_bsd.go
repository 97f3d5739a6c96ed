//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package dashboard

import "golang.org/x/sys/unix"

// ioctl requests for the modes of a terminal.
const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
)
