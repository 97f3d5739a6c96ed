//go:build linux && (amd64 || arm64)

package transport

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamper reads with recvmsg, which returns the kernel's software receive timestamp together with the bytes. A read allocates nothing.
type stamper struct {
	conn    *conn
	watched *loopSocket // nil = no loop watches the connection
	recv    func(fd uintptr) bool
	iov     unix.Iovec
	msg     unix.Msghdr
	oob     [96]byte // an SCM_TIMESTAMPING message takes 64 bytes
	n       int
	errno   syscall.Errno
}

func (s *stamper) init(c *conn, kernelStamps bool) {
	s.conn = c
	s.recv = s.receive
	if watched, ok := c.socket.(*loopSocket); ok {
		s.watched, c.pace = watched, watched.loop.pace
	}
	if kernelStamps {
		c.raw.Control(func(fd uintptr) { // without the option the kernel stamps nothing, and the time of the read's return is used
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
				unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
		})
	}
}

// read reads once into the scratch buffer.
func (c *conn) read() (int, error) {
	c.acknowledgeRead()
	if c.watched != nil && c.watched.emptied { // the connection is about to wait
		c.release()
	}
	if err := c.raw.Read(c.recv); err != nil {
		c.release()
		return 0, err
	}
	return c.outcome()
}

// outcome returns what the last read brought.
func (c *conn) outcome() (int, error) {
	if c.errno != 0 {
		c.release()
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("recvmsg", c.errno)}
	}
	if c.n == 0 {
		c.release()
		return 0, io.EOF
	}
	return c.n, nil
}

// receive is called by the runtime's poller: once at once, and again whenever the socket becomes readable.
func (s *stamper) receive(fd uintptr) bool {
	c := s.conn
	if c.scratch == nil {
		c.scratch = scratchPool.Get().(*[scratchSize]byte)
	}
	s.iov.Base = &c.scratch[0]
	s.iov.SetLen(scratchSize)
	s.msg.Iov, s.msg.Iovlen = &s.iov, 1
	before := c.attempt()
	for {
		s.msg.Control = &s.oob[0]
		s.msg.SetControllen(len(s.oob))
		// The socket is non-blocking: the call cannot wait, so the Go scheduler need not be notified.
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.msg)), 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno == syscall.EAGAIN {
			c.recordEmptyRead(before)
			c.release()
			return false
		}
		s.n, s.errno = int(n), errno
		if errno != 0 {
			s.n = 0
		}
		received(fd)
		c.stamp(before, s.n, s.kernelStamp())
		if s.watched != nil {
			s.watched.emptied = 0 < s.n && s.n < scratchSize
		}
		return true
	}
}

// peek returns the number of bytes that it copied to b and left in the socket. b is not empty. It allocates nothing and notifies no scheduler, because
// the call cannot wait.
func peek(fd uintptr, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// write writes to a non-blocking socket. The call cannot wait, so the Go scheduler need not be notified. b is not empty.
func write(fd uintptr, b []byte) (int, error) {
	sending(fd)
	n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// quickAck makes the connection acknowledge received data at once. The kernel leaves this mode whenever it sends data: it then delays the
// acknowledgement by up to 40 ms to send it together with data. A server with Nagle's algorithm holds back its next event until then. One call after
// each send is enough: it acknowledges what was read, and in this mode every later read acknowledges what it received.
func (c *conn) quickAck() {
	c.raw.Control(func(fd uintptr) { // failure is harmless: the acknowledgement is then only late
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	})
}

// kernelStamp finds the timestamp in the control messages; 0 = none.
func (s *stamper) kernelStamp() int64 {
	const header = int(unsafe.Sizeof(unix.Cmsghdr{}))
	left := min(int(s.msg.Controllen), len(s.oob))
	for at := 0; left-at >= header; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&s.oob[at]))
		size := int(h.Len)
		if size < header || size > left-at {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPING && size >= header+16 {
			t := (*unix.Timespec)(unsafe.Pointer(&s.oob[at+header]))
			return t.Nano()
		}
		at += (size + 7) &^ 7
	}
	return 0
}

// halfClosed reports whether the server has closed its side, even if earlier bytes are still unread.
func halfClosed(fd uintptr) bool {
	p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p[:], 0)
	return err == nil && n > 0
}

// control sets the socket options that must be set before the connection is made, and those that only Linux has.
func (o *Options) control(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		set := func(level, name, value int) {
			if value > 0 {
				unix.SetsockoptInt(int(fd), level, name, value) // an option that the system refuses is not required
			}
		}
		set(unix.SOL_SOCKET, unix.SO_RCVBUF, o.ReceiveBuffer)
		set(unix.SOL_SOCKET, unix.SO_SNDBUF, o.SendBuffer)
		set(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(o.UserTimeout.Milliseconds()))
		if len(o.LocalAddresses) > 0 { // the port is chosen when the server is known, so each server gets the whole range
			set(unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		}
	})
}
