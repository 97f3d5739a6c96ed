package kubeclient

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// forwarded is a connection to a port of a pod. It implements net.Conn.
type forwarded struct {
	noDeadlines
	*streams
	pod    podAddr
	broken atomic.Pointer[error] // what the kubelet reported; nil = nothing
}

func newForwarded(ctx context.Context, raw io.ReadWriteCloser, pod string, port int) (*forwarded, error) {
	s, err := openStreams(ctx, raw, port)
	if err != nil {
		return nil, err
	}
	f := &forwarded{streams: s, pod: podAddr(pod)}
	go func() {
		text, err := io.ReadAll(io.LimitReader(s.faults, longestStatus))
		if err == nil && len(text) > 0 {
			err = errors.New(string(text))
			f.broken.Store(&err)
			f.close() // the reason is known
		}
	}()
	return f, nil
}

// Read implements net.Conn.
func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.data.Read(p)
	if broken := f.broken.Load(); err != nil && broken != nil {
		err = *broken
	}
	return n, err
}

// Write implements net.Conn.
func (f *forwarded) Write(p []byte) (int, error) { return f.data.Write(p) }

// Close implements net.Conn.
func (f *forwarded) Close() error {
	f.close()
	return nil
}

// RemoteAddr implements net.Conn.
func (f *forwarded) RemoteAddr() net.Addr { return f.pod }

// podAddr is the address of a pod.
type podAddr string

// Network implements net.Addr.
func (podAddr) Network() string { return "pod" }

func (a podAddr) String() string { return string(a) }

// noDeadlines is the part of a net.Conn that streams do not have. Requests end connections by closing them.
type noDeadlines struct{}

// SetDeadline implements net.Conn.
func (noDeadlines) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (noDeadlines) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn.
func (noDeadlines) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr implements net.Conn.
func (noDeadlines) LocalAddr() net.Addr { return podAddr("aiperf") }

// pipe is the connection to the API server as the package of streams wants it.
type pipe struct {
	noDeadlines
	io.ReadWriteCloser
}

// Close implements net.Conn. It returns no error: the package of streams would keep a goroutine for a second that offers the error to others.
func (p pipe) Close() error {
	_ = p.ReadWriteCloser.Close()
	return nil
}

// RemoteAddr implements net.Conn.
func (pipe) RemoteAddr() net.Addr { return podAddr("API server") }
