package preflight

import (
	"net/http"
	"strings"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/modellist"
	"aiperf/internal/wire/transport"
)

// invalidResult is the type of the error of an answer without content.
const invalidResult = "InvalidInferenceResultError"

// Advice returns what to check after a request failed with an error; "" = the error says all that is known. as spells a key of the configuration.
func Advice(e *record.Error, as func(key string) string) string {
	switch e.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "the key is missing or wrong: give it with " + as("endpoint.api_key") + " env:NAME"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		if e.UnknownModel() {
			return "GET " + modellist.Path + " lists the models of most servers; name one with " + as("models.items")
		}
		return "is the path right? " + as("endpoint.type") + " chooses the API, " + as("endpoint.path") + " the path"
	case http.StatusTooManyRequests:
		return "the server limits its load: send fewer requests at once, or at a lower rate"
	}
	url := as("endpoint.urls")
	if e.Code >= http.StatusMultipleChoices && e.Code < http.StatusBadRequest {
		return "give the address that answers itself with " + url
	}
	switch e.Type {
	case transport.ErrConnect:
		return "is the server running, and is " + url + " right?"
	case transport.ErrDNS:
		return "is the name of the host in " + url + " right?"
	case transport.ErrCertificate:
		if strings.Contains(e.Message, "SANs") || strings.Contains(e.Message, "certificate is valid for") {
			return as("endpoint.tls.server_name") + " NAME gives the name in the certificate"
		}
		return as("endpoint.tls.ca_file") + " FILE trusts the authority of a certificate, " + as("endpoint.tls.insecure") + " skips the check"
	case transport.ErrTLS:
		if strings.Contains(e.Message, "does not look like a TLS handshake") {
			return "the server does not speak TLS: write " + url + " http://… (grpc://… for gRPC)"
		}
	case transport.ErrSocket, transport.ErrClosed, transport.ErrResponse:
		if strings.Contains(e.Message, "speaks HTTP/2") {
			return "for gRPC write " + url + " grpc://… with an " + as("endpoint.type") + " that uses it, for HTTP/2 add " + as("endpoint.http_version") + " 2"
		}
		return "is it an LLM server, and is " + url + " right (host, port, http or https)?"
	case invalidResult:
		if strings.Contains(e.Message, "the server said: ") || strings.Contains(e.Message, "response_field ") { // the message names the cause
			return ""
		}
		return "is it an LLM server, and does " + as("endpoint.type") + " fit its API?"
	}
	return ""
}
