// Package grpcwire holds what a client and a server of gRPC share: status codes, and the format of messages and headers
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
package grpcwire

import "fmt"

// Code is the status of a call.
type Code uint32

// Codes of the protocol (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md).
const (
	OK Code = iota
	Cancelled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// String returns the name of a code as the protocol spells it, for example INVALID_ARGUMENT.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("CODE(%d)", uint32(c))
}

// HTTPStatus returns the equivalent status of HTTP.
func (c Code) HTTPStatus() int {
	switch c {
	case OK:
		return 200
	case Cancelled:
		return 499
	case InvalidArgument:
		return 400
	case DeadlineExceeded:
		return 504
	case NotFound:
		return 404
	case PermissionDenied:
		return 403
	case ResourceExhausted:
		return 429
	case Unimplemented:
		return 501
	case Unavailable:
		return 503
	case Unauthenticated:
		return 401
	}
	return 500
}

// Status is the end of a call. It is an error if the code is not OK.
type Status struct {
	Code    Code
	Message string
}

// Error implements error.
func (s *Status) Error() string { return s.Code.String() + ": " + s.Message }

// Errorf returns a status as an error.
func Errorf(code Code, format string, args ...any) *Status {
	return &Status{code, fmt.Sprintf(format, args...)}
}
