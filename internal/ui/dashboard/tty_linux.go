package dashboard

import "golang.org/x/sys/unix"

// discardInput drops what was typed or answered and nobody has read.
func discardInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
