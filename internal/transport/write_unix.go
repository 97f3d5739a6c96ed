//go:build unix

package transport

import (
	"os"
	"syscall"
)

// tryWrite writes what the socket takes at once and never waits, so that a scheduler's thread can call it.
func (c *conn) tryWrite(b []byte) (n int, err error) {
	ctlErr := c.raw.Write(func(fd uintptr) bool {
		for n < len(b) {
			var m int
			m, err = syscall.Write(int(fd), b[n:])
			if err == syscall.EINTR {
				continue
			}
			if err != nil {
				break
			}
			n += m
		}
		return true
	})
	if ctlErr != nil {
		return n, ctlErr
	}
	if err == syscall.EAGAIN {
		return n, nil
	}
	if err != nil {
		err = os.NewSyscallError("write", err)
	}
	return n, err
}
