package preflight

import (
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// TestAdvice: errors of a wrong setting name that setting; others get no advice.
func TestAdvice(t *testing.T) {
	as := func(key string) string { return "<" + key + ">" }
	for _, c := range []struct {
		e    record.Error
		want string
	}{
		{record.Error{Code: 401, Type: "Unauthorized"}, "<endpoint.api_key> env:NAME"},
		{record.Error{Code: 404, Type: "Not Found", Message: "The model `m` does not exist."}, "<models.items>"},
		{record.Error{Code: 404, Type: "Not Found", Message: "Not Found"}, "<endpoint.type> chooses the API, <endpoint.path> the path"},
		{record.Error{Code: 301, Type: "Moved Permanently", Message: "The redirect to https://h/ is not followed"}, "give the address that answers itself with <endpoint.urls>"},
		{record.Error{Code: 429}, "a lower rate"},
		{record.Error{Type: transport.ErrConnect, Message: "connection refused"}, "is the server running, and is <endpoint.urls> right?"},
		{record.Error{Type: transport.ErrDNS}, "name of the host in <endpoint.urls>"},
		{record.Error{Type: transport.ErrCertificate}, "<endpoint.tls.ca_file> FILE"},
		{record.Error{Type: transport.ErrCertificate, Message: "tls: failed to verify certificate: x509: certificate is valid for a, not b"}, "<endpoint.tls.server_name> NAME"},
		{record.Error{Type: transport.ErrTLS, Message: "tls: first record does not look like a TLS handshake"}, "write <endpoint.urls> http://…"},
		{record.Error{Type: transport.ErrResponse, Message: "The server speaks HTTP/2, which gRPC uses, not HTTP/1.1"}, "for gRPC write <endpoint.urls> grpc://…"},
		{record.Error{Type: transport.ErrResponse}, "(host, port, http or https)?"},
		{record.Error{Type: invalidResult}, "does <endpoint.type> fit"},
		{record.Error{Type: invalidResult, Message: `No responses with actual content were received; the server said: "busy"`}, ""},
		{record.Error{Type: invalidResult, Message: "No responses with actual content were received; response_field a selects nothing in the answer"}, ""},
		{record.Error{Type: transport.ErrTimeout}, ""},
		{record.Error{Code: 500, Type: "Internal Server Error"}, ""},
	} {
		if got := Advice(&c.e, as); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.e, got, c.want)
		}
	}
}
