package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"aiperf/internal/measure/record"
)

// Error types as the error summary names them (spec: transport, section 8.1).
const (
	ErrDNS         = "ClientConnectorDNSError"
	ErrConnect     = "ClientConnectorError"
	ErrCertificate = "ClientConnectorCertificateError"
	ErrTLS         = "ClientConnectorSSLError"
	ErrClosed      = "ServerDisconnectedError" // FIN before the headers were complete
	ErrSocket      = "ClientOSError"           // RST, broken pipe
	ErrPayload     = "ClientPayloadError"      // the body was incomplete
	ErrResponse    = "ClientResponseError"     // not HTTP
	ErrEncoding    = "ContentEncodingError"
	ErrTimeout     = record.ClientTimeout
	ErrCancelled   = record.PlannedCancellation
	ErrSendTimeout = "RequestSendTimeout"
)

// newError makes an error from a text. It keeps only as much of the text as a Cleaner needs.
func newError(kind string, code int, text string) *record.Error {
	return &record.Error{Type: kind, Code: code, Message: truncateError(text)}
}

// wrapError makes an error from a Go error and its causes. The message is the same for equal failures; the causes are unchanged.
func wrapError(kind string, err error) *record.Error {
	e := newError(kind, 0, timeless(portless(err.Error())))
	e.Local = localLimit(err)
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		e.Chain = append(e.Chain, truncateError(cause.Error()))
	}
	if len(e.Chain) > 0 {
		e.Cause = e.Chain[len(e.Chain)-1]
	}
	return e
}

// timeoutError reports that the time for a whole request is over. Errors with equal limit and doing form one group.
func timeoutError(limit time.Duration, doing string) *record.Error {
	text := "the request timeout"
	if limit > 0 {
		text = fmt.Sprintf("the request timeout of %v", limit)
	}
	return &record.Error{Type: ErrTimeout, Message: text + " passed while " + doing}
}

func cancelError(after time.Duration) *record.Error {
	return newError(ErrCancelled, 499, fmt.Sprintf("Request cancelled %.3fs after being sent", after.Seconds()))
}

func externalError() *record.Error {
	return newError(ErrCancelled, 499, "Request cancelled by external signal")
}

// localLimits are the system errors that mean: this machine, not the server, has no room for another connection.
var localLimits = []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, syscall.ENOBUFS, syscall.ENOMEM}

func localLimit(err error) bool {
	for _, limit := range localLimits {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}

// portless removes our own address, whose port differs each time, from the "local->remote" that Go puts into socket errors.
func portless(text string) string {
	from := 0
	for {
		i := strings.Index(text[from:], "->")
		if i < 0 {
			return text
		}
		i += from
		start := strings.LastIndexByte(text[:i], ' ') + 1
		if _, err := netip.ParseAddrPort(text[start:i]); err != nil {
			from = i + len("->")
			continue
		}
		text, from = text[:start]+text[i+len("->"):], start
	}
}

// timeless removes the time of day from the message about a certificate that is not valid now.
func timeless(text string) string {
	const clock = ": current time "
	head, rest, found := strings.Cut(text, clock)
	now, verdict, ok := strings.Cut(rest, " ")
	if _, err := time.Parse(time.RFC3339, now); !found || !ok || err != nil {
		return text
	}
	return head + ": now " + verdict
}

// dialStage is the stage that making a connection had reached.
type dialStage int

const (
	stageDNS dialStage = iota
	stageTCP
	stageTunnel
	stageTLS
	stageHTTP2
)

// dialError reports that a connection could not be made.
type dialError struct {
	stage dialStage
	err   error
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// stageTexts says for each stage what the client was doing.
var stageTexts = map[dialStage]string{stageDNS: "looking up the server's name", stageTCP: "connecting", stageTunnel: "waiting for the proxy's tunnel", stageTLS: "doing the TLS handshake",
	stageHTTP2: "waiting for the HTTP/2 settings of the server"}

// connectError classifies the failure to make a connection. limit is the request timeout.
func connectError(err error, limit time.Duration) *record.Error {
	var d *dialError
	dialled := errors.As(err, &d)
	if isTimeout(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		if !dialled {
			return timeoutError(limit, "waiting for a free connection")
		}
		return timeoutError(limit, stageTexts[d.stage])
	}
	if !dialled {
		return wrapError(ErrConnect, err)
	}
	switch d.stage {
	case stageDNS:
		return wrapError(ErrDNS, d.err)
	case stageTLS:
		if certificateError(d.err) {
			return wrapError(ErrCertificate, d.err)
		}
		return wrapError(ErrTLS, d.err)
	}
	return wrapError(ErrConnect, d.err)
}

func certificateError(err error) bool {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid)
}

// headError classifies the end of a connection before the response headers were complete.
func headError(err error) *record.Error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return newError(ErrClosed, 0, "Server disconnected")
	}
	return socketError(err)
}

// socketError reports a broken connection. Its text contains no ports, so that equal failures form one group.
func socketError(err error) *record.Error {
	e := wrapError(ErrSocket, err)
	e.Message = plainReason(err)
	return e
}

// bodyError classifies the end of a connection inside a body.
func bodyError(err error, b *bodyReader) *record.Error {
	var bad *formatError
	switch {
	case errors.As(err, &bad):
		return newError(bad.kind, 0, bad.text)
	case b.kind == untilClose && !errors.Is(err, io.ErrUnexpectedEOF):
		return socketError(err)
	}
	text := "Response payload is not completed"
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		text += ": " + plainReason(err)
	}
	e := newError(ErrPayload, 0, text)
	e.Cause = b.progress() // not in the message, so that equal failures form one group
	e.Chain = []string{e.Cause}
	return e
}

// plainReason returns the text of a socket error without its addresses.
func plainReason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}

// formatError reports a response that violates the rules of HTTP.
type formatError struct{ kind, text string }

func (e *formatError) Error() string { return e.text }

func malformed(format string, args ...any) error {
	return &formatError{ErrResponse, fmt.Sprintf(format, args...)}
}

// quote returns the first of the bytes that could not be parsed, quoted.
func quote(b []byte) string {
	const most = 60
	s := string(b[:min(len(b), most)])
	if len(b) > most {
		s += "…"
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(s, "\uFFFD"))
}
