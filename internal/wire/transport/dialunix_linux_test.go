package transport

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
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

// TestFullQueueOfSocket: a connection to a Unix socket waits for a place in the server's queue, as one over TCP does. The server begins to accept after
// the second attempt.
func TestFullQueueOfSocket(t *testing.T) {
	path, listener := fullSocket(t)
	attempts, second := 0, make(chan struct{})
	d := net.Dialer{Control: func(_, _ string, _ syscall.RawConn) error {
		if attempts++; attempts == 2 {
			close(second)
		}
		return nil
	}}
	var serving sync.WaitGroup
	serving.Go(func() {
		<-second
		l, err := net.FileListener(listener)
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Close()
		for range 2 {
			k, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			k.Close()
		}
	})
	k, err := dialUnix(t.Context(), &d, path)
	if err != nil {
		t.Fatal(err)
	}
	k.Close()
	serving.Wait()
}

// TestFullQueueForEver: if the server never accepts, the request ends with its timeout.
func TestFullQueueForEver(t *testing.T) {
	path, _ := fullSocket(t)
	c := mustClient(t, func(o *Options) { o.Socket, o.Timeout = path, 50*time.Millisecond })
	wantError(t, do(c, &Request{Target: mustTarget(t, "http://h/")}), ErrTimeout, 0)
}
