package bus

import (
	"bufio"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

var (
	errLost = errors.New("the connection of the bus is lost")
	errSlow = errors.New("the connection of the bus is too slow")
)

// connection is one open connection between a worker and its controller. Its own goroutine writes, in order, so that senders never wait.
type connection struct {
	net.Conn // encrypted or not
	socket   *socket

	mu      sync.Mutex
	changed *sync.Cond
	waiting [][]byte // frames that are not written yet
	bytes   int      // of waiting
	ending  bool     // nothing more is sent
	err     error    // why it ended, if this end ended it
}

func newConnection(conn net.Conn, socket *socket) *connection {
	c := &connection{Conn: conn, socket: socket}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// send makes a message due. It fails if the connection has ended, and ends it if too much waits.
func (c *connection) send(kind frameKind, m message) error {
	frame := encodeFrame(kind, m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return errLost
	}
	if c.bytes+len(frame) > maxPending {
		c.fail(errSlow)
		return errSlow
	}
	c.waiting, c.bytes = append(c.waiting, frame), c.bytes+len(frame)
	c.changed.Signal()
	return nil
}

// fail ends the connection. c.mu is held.
func (c *connection) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.ending, c.waiting, c.bytes = true, nil, 0
	_ = c.socket.Close() // a connection that has ended already
	c.changed.Signal()
}

// end ends the connection at once, for a reason.
func (c *connection) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail(err)
}

// finish ends the connection as soon as what waits is written and the other end has closed too, or after a while.
func (c *connection) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ending {
		c.ending = true
		time.AfterFunc(farewell, func() { c.end(errLost) })
		c.changed.Signal()
	}
}

// take waits for frames. ok is false if there are none and the connection ends.
func (c *connection) take() (frames [][]byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) == 0 && !c.ending {
		c.changed.Wait()
	}
	frames, c.waiting = c.waiting, nil
	return frames, len(frames) > 0
}

// written notes that a frame does not wait any more.
func (c *connection) written(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes = max(0, c.bytes-len(frame))
}

// write writes what is sent, until the connection ends.
func (c *connection) write() {
	for {
		frames, ok := c.take()
		if !ok {
			c.socket.hangUp()
			return
		}
		for _, frame := range frames {
			if _, err := c.Write(frame); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					err = errSlow
				}
				c.end(err)
				return
			}
			c.written(frame)
		}
	}
}

// read gives messages to a function until the connection ends or the function fails, and returns why.
func (c *connection) read(handle func(kind frameKind, body []byte) error) error {
	in := bufio.NewReaderSize(c, 64<<10)
	for {
		kind, body, err := readFrame(in, maxFrame)
		if err == nil {
			err = handle(kind, body)
		}
		if err != nil {
			c.end(err)
			return c.reason()
		}
	}
}

// reason returns why the connection ended.
func (c *connection) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// socket is a connection that is lost if nothing comes for a while, or if what it writes does not get away.
type socket struct {
	net.Conn
	silence time.Duration // 0 = it may be silent
	stall   time.Duration // 0 = a write may take any time
}

// Read waits for bytes. A machine that had no time to read them while they came gets a second look.
func (s *socket) Read(b []byte) (n int, err error) {
	if s.silence == 0 {
		return s.Conn.Read(b)
	}
	for _, wait := range []time.Duration{s.silence, secondLook} {
		if err := s.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return 0, err
		}
		if n, err = s.Conn.Read(b); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	return n, err
}

// Write writes bytes.
func (s *socket) Write(b []byte) (int, error) {
	if s.stall > 0 {
		if err := s.SetWriteDeadline(time.Now().Add(s.stall)); err != nil {
			return 0, err
		}
	}
	return s.Conn.Write(b)
}

// hangUp tells the other end that nothing follows.
func (s *socket) hangUp() {
	if tcp, ok := s.Conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // a connection that has ended already
	}
}
