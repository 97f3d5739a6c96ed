package resolve

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/wire/transport"
)

// splitURLs splits one value of --url at commas. The options of an embedded server may contain commas: there a comma ends the URL only if another
// scheme follows.
func splitURLs(token string) []string {
	var urls []string
	for piece := range strings.SplitSeq(token, ",") {
		if n := len(urls); n > 0 && IsMock(strings.TrimSpace(urls[n-1])) && !strings.Contains(piece, "://") {
			urls[n-1] += "," + piece
			continue
		}
		urls = append(urls, piece)
	}
	return urls
}

// ParseURL completes and checks one HTTP base URL; "mock://…" is the embedded server. Errors show it without its credentials.
func ParseURL(text string) (string, error) { return parseURLOf("http", text) }

// parseURLOf is ParseURL with a default scheme; if that is grpc, gRPC URLs are allowed too.
func parseURLOf(scheme, text string) (string, error) {
	s, shown := strings.TrimSpace(text), redact.URL(text)
	if s == "" {
		return "", fmt.Errorf("the URL is empty")
	}
	if strings.ContainsAny(s, " \t\r\n") {
		return "", fmt.Errorf("%q contains a space", shown)
	}
	if strings.HasPrefix(strings.ToLower(s), "mock://") {
		return parseMockURL(s)
	}
	if strings.HasPrefix(strings.ToLower(s), "unix://") {
		return transport.NormalizeURL(strings.TrimRight(s, "/"))
	}
	switch word, ok := wordScheme(s); {
	case ok && (strings.HasPrefix(strings.ToLower(word), "http") || scheme == grpcScheme && strings.HasPrefix(strings.ToLower(word), "grpc")):
		return "", fmt.Errorf("%q: %s is not followed by //; write %s://host:port", shown, word, word)
	case ok:
		return "", badScheme(shown, word)
	}
	if !strings.Contains(s, "://") {
		s = scheme + "://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL: %w", shown, unwrapURL(err))
	}
	switch given := strings.ToLower(u.Scheme); given {
	case "http", "https":
	case grpcScheme, "grpcs":
		if scheme != grpcScheme {
			return "", badScheme(shown, u.Scheme)
		}
	default:
		return "", badScheme(shown, u.Scheme)
	}
	if u.Hostname() == "" {
		return "", fmt.Errorf("%q has no host", shown)
	}
	if err := checkPort(u, shown); err != nil {
		return "", err
	}
	if u.RawQuery == "" && u.Fragment == "" {
		s = strings.TrimRight(s, "/")
	}
	return s, nil
}

// grpcScheme is the scheme of gRPC without TLS.
const grpcScheme = "grpc"

func badScheme(shown, scheme string) error {
	hint := ""
	if strings.HasPrefix(strings.ToLower(scheme), grpcScheme) {
		hint = "; for gRPC use --endpoint-type kserve or dynamic_grpc"
	}
	return fmt.Errorf("%q: scheme %s is not http or https%s", shown, scheme, hint)
}

// isGRPC reports whether a URL has a gRPC scheme.
func isGRPC(u string) bool {
	return strings.HasPrefix(u, "grpc://") || strings.HasPrefix(u, "grpcs://")
}

func checkPort(u *url.URL, text string) error {
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return fmt.Errorf("%q ends in \":\" without a port", text)
		}
		return nil
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q: port %s is not 1 to 65535", text, port)
	}
	return nil
}

// wordScheme finds schemes that are written without "//" and would otherwise be read as a host and port.
func wordScheme(s string) (string, bool) {
	if strings.Contains(s, "://") {
		return "", false
	}
	head, _, ok := strings.Cut(s, ":")
	switch strings.ToLower(head) {
	case "ftp", "ws", "wss", "file", "mailto", "javascript", "data", "http", "https", "grpc", "grpcs":
		return head, ok
	}
	return "", false
}

// parseMockURL checks a URL of the embedded server: its options are query parameters, and its path comes before that of the endpoint.
func parseMockURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL: %w", s, unwrapURL(err))
	}
	if u.Host != "" {
		return "", fmt.Errorf("%q: the embedded server has no host; write mock:// or mock://?ttft=50ms", s)
	}
	if _, err := mockserver.ParseQuery(u.RawQuery); err != nil {
		return "", fmt.Errorf("%q: %w", s, err)
	}
	return "mock://" + s[len("mock://"):], nil
}

func unwrapURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// IsMock reports whether a URL is the embedded server.
func IsMock(u string) bool { return strings.HasPrefix(strings.ToLower(u), "mock://") }
