package transport

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fullSocket is a Unix socket whose queue holds one connection, which is taken. Nobody accepts yet.
func fullSocket(t *testing.T) (path string, listener *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "socket")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	listener = os.NewFile(uintptr(fd), path)
	t.Cleanup(func() { listener.Close() })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	first, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Close() })
	if _, err := net.Dial("unix", path); !errors.Is(err, unix.EAGAIN) {
		t.Fatalf("the queue is not full: %v", err)
	}
	return path, listener
}

// TestFullQueueOfSocket: a connection to a Unix socket waits for a place in the server's queue, as one over TCP does.
func TestFullQueueOfSocket(t *testing.T) {
	path, listener := fullSocket(t)
	c := mustClient(t, func(o *Options) { o.Socket, o.Timeout = path, 10*time.Second })
	var accepts atomic.Int64
	go func() {
		time.Sleep(50 * time.Millisecond)
		l, err := net.FileListener(listener)
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Close()
		accepts.Store(time.Now().UnixNano())
		for range 2 { // the first sends nothing
			k, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				defer k.Close()
				if _, ok := readRequest(bufio.NewReader(k)); ok {
					io.WriteString(k, okAnswer)
				}
			}()
		}
	}()
	rec := do(c, &Request{Target: mustTarget(t, "http://h/")})
	if rec.Error != nil {
		t.Fatal(rec.Error)
	}
	if connected := rec.WallOffset + rec.Trace.ConnectEnd; connected < accepts.Load() {
		t.Errorf("connected %v before the server accepted", time.Duration(accepts.Load()-connected))
	}
}

// TestFullQueueForEver: if the server never accepts, the request ends with its timeout.
func TestFullQueueForEver(t *testing.T) {
	path, _ := fullSocket(t)
	c := mustClient(t, func(o *Options) { o.Socket, o.Timeout = path, 50*time.Millisecond })
	wantError(t, do(c, &Request{Target: mustTarget(t, "http://h/")}), ErrTimeout, 0)
}
