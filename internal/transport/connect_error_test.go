package transport

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestConnectErrors: a deadline that passes while connecting is a timeout, whichever layer noticed it; the network's own failures are not.
func TestConnectErrors(t *testing.T) {
	tcp := func(err error) error { return &dialError{stageTCP, &net.OpError{Op: "dial", Net: "tcp4", Err: err}} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{tcp(os.ErrDeadlineExceeded), ErrTimeout},
		{tcp(context.DeadlineExceeded), ErrTimeout},
		{&dialError{stageTLS, os.ErrDeadlineExceeded}, ErrTimeout},
		{&dialError{stageDNS, &net.DNSError{Err: "no such host", Name: "x.invalid", IsNotFound: true}}, ErrDNS},
		{tcp(os.NewSyscallError("connect", syscall.ECONNREFUSED)), ErrConnect},
		{tcp(os.NewSyscallError("connect", syscall.ETIMEDOUT)), ErrConnect},
		{&dialError{stageTLS, syscall.ECONNRESET}, ErrTLS},
	} {
		if got := connectError(c.err, 0); got.Type != c.want {
			t.Errorf("%v: %s, want %s", c.err, got.Type, c.want)
		}
	}
}
