package dashboard

import "golang.org/x/sys/unix"

// Requests for the modes of a terminal.
const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
)

// discardInput drops what was typed or answered and nobody has read.
func discardInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
