// Package testlink is a network between two ends of a test that can be cut or stopped, as a cable or a switch can.
package testlink

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Link carries TCP connections to a target. It is safe for concurrent use.
type Link struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	changed *sync.Cond
	stopped bool // bytes wait
	conns   []net.Conn
	cuts    int
}

// New returns a link to an address (HOST:PORT). It ends with the test.
func New(t testing.TB, target string) *Link {
	t.Helper()
	l := &Link{target: target}
	l.changed = sync.NewCond(&l.mu)
	var err error
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			near, err := l.listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", l.target)
			if err != nil {
				near.Close()
				continue
			}
			l.mu.Lock()
			l.conns = append(l.conns, near, far)
			l.mu.Unlock()
			done.Go(func() { l.copy(near, far) })
			done.Go(func() { l.copy(far, near) })
		}
	})
	t.Cleanup(func() {
		_ = l.listener.Close() // the test is over
		l.Stop(false)
		l.Cut()
		done.Wait()
	})
	return l
}

// copy carries bytes from one end to the other.
func (l *Link) copy(to io.WriteCloser, from io.ReadCloser) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		l.mu.Lock()
		for l.stopped {
			l.changed.Wait()
		}
		l.mu.Unlock()
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// Cut ends all connections. New ones can be made.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
	l.cuts++
}

// Cuts returns how often the link was cut.
func (l *Link) Cuts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cuts
}

// Stop makes bytes wait in both directions, without an end of the connections, or lets them pass again.
func (l *Link) Stop(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = yes
	l.changed.Broadcast()
}

// Port returns the port of this end, on the loopback address.
func (l *Link) Port() int { return l.listener.Addr().(*net.TCPAddr).Port }
