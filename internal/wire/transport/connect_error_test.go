package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
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

// TestConnectErrorsGroup: equal failures have equal messages, whatever port this side had and whatever time it was.
func TestConnectErrorsGroup(t *testing.T) {
	at := func(port int, minute int) []error {
		local, remote := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: port}, &net.TCPAddr{IP: net.IPv6loopback, Port: 8443}
		read := &net.OpError{Op: "read", Net: "tcp", Source: local, Addr: remote, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
		now := time.Date(2026, 1, 2, 3, minute, 5, 0, time.UTC)
		expired := x509.CertificateInvalidError{Reason: x509.Expired, Detail: fmt.Sprintf("current time %s is after 2020-01-01T00:00:00Z", now.Format(time.RFC3339))}
		return []error{
			&dialError{stageTLS, read},
			&dialError{stageTLS, &tls.CertificateVerificationError{Err: expired}},
			&dialError{stageDNS, &net.DNSError{Err: fmt.Sprintf("read udp 10.0.0.1:%d->10.0.0.2:53: read: connection refused", port), Name: "h"}},
		}
	}
	some, others := at(40001, 1), at(40002, 2)
	for i := range some {
		one, other := connectError(some[i], 0), connectError(others[i], 0)
		if one.Message != other.Message || strings.Contains(one.Message, "4000") || strings.Contains(one.Message, "03:01") {
			t.Errorf("two groups: %q and %q", one.Message, other.Message)
		}
	}
	if m := connectError(some[1], 0).Message; !strings.HasSuffix(m, "not yet valid: now is after 2020-01-01T00:00:00Z") {
		t.Errorf("message %q", m)
	}
	if m := connectError(some[0], 0).Message; m != "read tcp [::1]:8443: read: connection reset by peer" {
		t.Errorf("message %q", m)
	}
	for _, text := range []string{"a -> b", "->", "x->y z->", ": current time of day"} {
		if got := timeless(portless(text)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestLocalLimits: a missing resource of this machine is recognised by the number of the error, not by its text.
func TestLocalLimits(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.EMFILE: true, syscall.EADDRNOTAVAIL: true, syscall.ECONNREFUSED: false, errors.New("too many open files"): false,
	} {
		e := connectError(&dialError{stageTCP, &net.OpError{Op: "dial", Net: "tcp", Err: err}}, 0)
		if e.Local != want {
			t.Errorf("%v: local limit %v", err, e.Local)
		}
	}
}
