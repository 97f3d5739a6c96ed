package rpc

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/grpcwire"
)

// answerHeaders are parsed headers or trailers.
type answerHeaders struct {
	list          []record.Header // without those of the protocol
	encoding      string
	code          grpcwire.Code
	message       string
	informational bool
	web           *grpcwire.Status // the answer is not gRPC
	fault         *grpcwire.Status // the headers are invalid
}

// parseHeaders parses a block of headers. trailers tells that an answer in gRPC has begun before.
func parseHeaders(f *http2.MetaHeadersFrame, trailers bool) (a answerHeaders) {
	a.code = grpcwire.Unknown
	isGRPC, status, contentFault := trailers, "", "malformed header: missing HTTP content-type"
	for _, h := range f.Fields {
		switch {
		case h.Name == "content-type":
			if !grpcwire.IsContentType(h.Value) {
				contentFault = fmt.Sprintf("transport: received unexpected content-type %q", h.Value)
				break
			}
			isGRPC, contentFault = true, ""
			a.list = append(a.list, record.Header{Name: h.Name, Value: h.Value})
		case h.Name == "grpc-encoding":
			a.encoding = h.Value
		case h.Name == "grpc-status":
			n, err := strconv.ParseInt(h.Value, 10, 32)
			if err != nil {
				a.fault = grpcwire.Errorf(grpcwire.Unknown, "transport: malformed grpc-status: %v", err)
				return a
			}
			a.code = grpcwire.Code(n)
		case h.Name == "grpc-message":
			a.message = grpcwire.DecodeText(h.Value)
		case h.Name == ":status":
			status = h.Value
		case strings.HasPrefix(h.Name, ":"), h.Name == "te", h.Name == "grpc-timeout", h.Name == "grpc-message-type":
		default:
			value, err := grpcwire.DecodeHeader(h.Name, h.Value)
			if err != nil {
				a.fault = grpcwire.Errorf(grpcwire.Internal, "transport: malformed %s: %v", h.Name, err)
				break
			}
			a.list = append(a.list, record.Header{Name: h.Name, Value: value})
		}
	}
	if !isGRPC {
		a.fault = nil
		a.notGRPC(status, contentFault, f.StreamEnded())
	}
	return a
}

// notGRPC sets the error of an answer that is not gRPC.
func (a *answerHeaders) notGRPC(status, contentFault string, ended bool) {
	code, faults := grpcwire.Internal, []string{}
	if status == "" {
		faults = append(faults, "malformed header: missing HTTP status")
	} else {
		n, err := strconv.Atoi(status)
		if err != nil {
			a.fault = grpcwire.Errorf(grpcwire.Internal, "transport: malformed http-status: %v", err)
			return
		}
		if a.informational = n >= 100 && n < 200; a.informational {
			if ended {
				a.fault = grpcwire.Errorf(grpcwire.Internal, "protocol error: informational header with status code %d must not have END_STREAM set", n)
			}
			return
		}
		code = webCode(n)
		faults = append(faults, fmt.Sprintf("unexpected HTTP status code received from server: %d (%s)", n, http.StatusText(n)))
	}
	if contentFault != "" {
		faults = append(faults, contentFault)
	}
	a.web = grpcwire.Errorf(code, "%s", strings.Join(faults, "; "))
}

// webCode returns the code for the HTTP status of an answer that is not gRPC
// (https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md).
func webCode(status int) grpcwire.Code {
	switch status {
	case 400:
		return grpcwire.Internal
	case 401:
		return grpcwire.Unauthenticated
	case 403:
		return grpcwire.PermissionDenied
	case 404:
		return grpcwire.Unimplemented
	case 429, 502, 503, 504:
		return grpcwire.Unavailable
	}
	return grpcwire.Unknown
}
