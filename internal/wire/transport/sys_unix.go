//go:build unix

package transport

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tlsApplicationData is the type of the only TLS records that may arrive on an idle connection: session tickets.
const tlsApplicationData = 23

// alive reports whether an idle connection can carry a request: it is open and no unexpected bytes have arrived.
func (c *conn) alive() bool {
	if len(c.cipher) > 0 && c.cipher[0] != tlsApplicationData {
		return false
	}
	ok := false
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, err := peek(fd, b[:])
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
			ok = true
		case err == nil && n > 0 && c.tls != nil:
			ok = b[0] == tlsApplicationData && !halfClosed(fd)
		}
	})
	return err == nil && ok
}

// readAvailable reads what has arrived, whatever the deadline. ok = false: nothing has.
func (c *conn) readAvailable() (n int, ok bool, err error) {
	if err := c.raw.Control(func(fd uintptr) { ok = c.receive(fd) }); err != nil || !ok {
		return 0, false, err
	}
	n, err = c.outcome()
	return n, true, err
}

// holdsUnread reports whether the socket holds bytes that were not read yet.
func (c *conn) holdsUnread() bool {
	unread := false
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, err := peek(fd, b[:])
		unread = err == nil && n > 0
	})
	return err == nil && unread
}

// peekUnrequested peeks at the first bytes that have arrived although nothing was requested. Over TLS they may be session tickets, so it returns nil.
func (c *conn) peekUnrequested(b []byte) []byte {
	n := 0
	if c.tls == nil {
		c.raw.Control(func(fd uintptr) { n, _ = peek(fd, b) })
	}
	return b[:max(n, 0)]
}

// tryWrite writes what the socket accepts at once and never waits, so that a scheduler's thread can call it.
func (c *conn) tryWrite(b []byte) (n int, err error) {
	if c.writeTrial == nil {
		c.writeTrial = c.tryRest
	}
	c.trial = trialWrite{rest: b}
	err = c.raw.Write(c.writeTrial)
	n = len(b) - len(c.trial.rest)
	if err == nil && c.trial.errno != nil && !errors.Is(c.trial.errno, syscall.EAGAIN) {
		err = os.NewSyscallError("write", c.trial.errno)
	}
	c.trial = trialWrite{}
	return n, err
}

// tryRest is what the runtime's poller calls for tryWrite.
func (c *conn) tryRest(fd uintptr) bool {
	t := &c.trial
	for len(t.rest) > 0 {
		n, err := write(fd, t.rest)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if t.errno = err; err != nil {
			break
		}
		t.rest = t.rest[n:]
	}
	return true
}
