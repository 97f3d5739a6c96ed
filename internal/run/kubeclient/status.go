package kubeclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"aiperf/internal/run/kube"
)

// status is why the API server refused something.
type status struct {
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Code    int    `json:"code"`
}

// knownReasons are the reasons of the API that count alone. With others the code counts.
var knownReasons = []string{"Conflict", "Gone", "StorageReadError", "MethodNotAllowed", "NotAcceptable", "RequestEntityTooLarge", "UnsupportedMediaType", "InternalError", "Expired"}

// reason returns the reason for runs.
func (s *status) reason() kube.Reason {
	switch s.Reason {
	case "NotFound":
		return kube.NotFound
	case "AlreadyExists":
		return kube.Exists
	case "Forbidden":
		return s.forbidden()
	case "Unauthorized":
		return kube.Unauthorized
	case "Invalid", "BadRequest":
		return kube.Invalid
	case "ServerTimeout", "Timeout", "ServiceUnavailable", "TooManyRequests":
		return kube.Unreachable
	}
	switch {
	case s.Code == http.StatusTooManyRequests:
		return kube.Unreachable
	case slices.Contains(knownReasons, s.Reason):
		return kube.Other
	}
	switch s.Code {
	case http.StatusNotFound:
		return kube.NotFound
	case http.StatusForbidden:
		return s.forbidden()
	case http.StatusUnauthorized:
		return kube.Unauthorized
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return kube.Invalid
	case http.StatusGatewayTimeout, http.StatusServiceUnavailable:
		return kube.Unreachable
	}
	return kube.Other
}

func (s *status) forbidden() kube.Reason {
	if strings.Contains(s.Message, "exceeded quota") {
		return kube.Quota
	}
	return kube.Forbidden
}

// refusal returns the error in an answer with another code than success.
func refusal(method string, code int, header http.Header, body []byte) *kube.APIError {
	s := &status{}
	if json.Unmarshal(body, s) != nil || s.Kind != "Status" || s.Status != "Failure" {
		s = &status{Code: code, Message: explained(code, header, body)}
		if code == http.StatusConflict && method == http.MethodPost {
			s.Reason = "AlreadyExists"
		}
	}
	return &kube.APIError{Reason: s.reason(), Message: s.Message}
}

// longestQuote limits what is shown of an answer that is not from the API server, bytes.
const longestQuote = 300

// explained describes an answer that is not of the API, for example of a proxy.
func explained(code int, header http.Header, body []byte) string {
	text := strings.Join(strings.Fields(string(body)), " ")
	if len(text) > longestQuote {
		text = strings.ToValidUTF8(text[:longestQuote], "") + "…"
	}
	answer := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	kind := mediaType(header)
	switch {
	case text == "":
		return "the answer is " + answer + " and says no more"
	case kind == "text/html":
		return "the answer is " + answer + " with an HTML page, so something before the API server answered, such as a proxy or a log-in page: " + text
	}
	return "the answer is " + answer + ": " + text
}

// mediaType returns the type of an answer. The API server's own is JSON.
func mediaType(header http.Header) string {
	kind := header.Get("Content-Type")
	if kind == "" {
		return "application/json"
	}
	name, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return kind
	}
	return name
}

// objectOf returns the object in an answer with success.
func objectOf(code int, header http.Header, body []byte) (kube.Object, error) {
	if mediaType(header) != "application/json" {
		return nil, fmt.Errorf("%s; expected JSON of the Kubernetes API", explained(code, header, body))
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, fmt.Errorf("the answer is %d without content; expected JSON of the Kubernetes API", code)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var o kube.Object
	if err := decoder.Decode(&o); err != nil {
		return nil, fmt.Errorf("the answer is not an object of the Kubernetes API: %w", err)
	}
	if kind, _ := o["kind"].(string); kind == "" {
		return nil, fmt.Errorf("the answer is JSON without a kind, so it is not of the Kubernetes API")
	}
	numbers(o)
	var s status
	if o["kind"] == "Status" && json.Unmarshal(body, &s) == nil && s.Status != "Success" {
		return nil, &kube.APIError{Reason: s.reason(), Message: s.Message}
	}
	return o, nil
}

// numbers turns the numbers of a value into int64 where they are whole, else into float64.
func numbers(v any) any {
	switch v := v.(type) {
	case kube.Object:
		for key, one := range v {
			v[key] = numbers(one)
		}
	case []any:
		for i, one := range v {
			v[i] = numbers(one)
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		float, _ := v.Float64() // the decoder has checked the syntax; ±Inf if it is too large
		return float
	}
	return v
}
