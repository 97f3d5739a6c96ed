package transport

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"aiperf/internal/base/redact"
)

// otherSchemes are schemes that are recognised without "//", so that "ws:h" is refused while "localhost:8000" is a host.
var otherSchemes = []string{
	"data", "file", "ftp", "ftps", "gopher", "javascript", "ldap", "ldaps", "mailto", "sftp", "ssh", "tel", "vbscript", "ws", "wss",
}

// schemes are the supported URL schemes.
var schemes = []string{"http", "https", "grpc", "grpcs"}

// NormalizeURL completes and checks a base URL from --url.
func NormalizeURL(raw string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("URL %q: %s", redact.URL(raw), fmt.Sprintf(format, args...))
	}
	if raw == "" {
		return bad("is empty; write http://HOST[:PORT][/PATH]")
	}
	if strings.ContainsFunc(raw, unicode.IsSpace) {
		return bad("contains white space")
	}
	if path, _, ok := cutSocket(raw); ok {
		switch {
		case !strings.HasPrefix(path, "/"):
			return bad("has no path; write unix:///PATH or unix:///PATH:/PREFIX")
		case len(path) > maxSocketPath:
			return bad("a socket path can have at most %d bytes; this one has %d", maxSocketPath, len(path))
		}
		return raw, nil
	}
	full := raw
	if !strings.Contains(raw, "://") && !otherScheme(raw) {
		full = "http://" + raw
	}
	u, err := url.Parse(full)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return bad("%v", err)
	}
	if u.Scheme = strings.ToLower(u.Scheme); !slices.Contains(schemes, u.Scheme) {
		return bad("scheme %q is not supported; allowed are http, https, grpc and grpcs", u.Scheme)
	}
	if u.Hostname() == "" {
		return bad("has no host; write http://HOST[:PORT][/PATH]")
	}
	if strings.Contains(u.Hostname(), ":") && !strings.HasPrefix(u.Host, "[") {
		return bad("IPv6 addresses need brackets: [%s]", u.Hostname())
	}
	if p := u.Port(); p != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return bad("port %q: allowed are 1 to 65535", p)
		}
	}
	return full, nil
}

func otherScheme(raw string) bool {
	head, _, ok := strings.Cut(raw, ":")
	if !ok {
		return false
	}
	for _, s := range otherSchemes {
		if strings.EqualFold(head, s) {
			return true
		}
	}
	return false
}

// JoinURL joins a base URL and the path of an endpoint. It keeps the query of the base but not its fragment. A base that is already the full URL
// stays as it is, and "/v1" is not doubled. params replace query values of the same name.
func JoinURL(base, path string, params ...[2]string) (string, error) {
	full, err := NormalizeURL(base)
	if err != nil {
		return "", err
	}
	if socket, rest, ok := cutSocket(full); ok {
		joined, err := JoinURL(socketHost+rest, path, params...)
		return "unix://" + socket + ":" + strings.TrimPrefix(joined, socketHost), err
	}
	full, _, _ = strings.Cut(full, "#")
	head, query, hasQuery := strings.Cut(full, "?")
	p := strings.TrimLeft(path, "/")
	p, pathQuery, _ := strings.Cut(p, "?")
	if p != "" {
		start := strings.Index(head, "://") + len("://")
		prefix := ""
		if i := strings.IndexByte(head[start:], '/'); i >= 0 {
			head, prefix = head[:start+i], strings.TrimRight(head[start+i:], "/")
		}
		switch {
		case strings.HasSuffix(prefix, "/"+p):
		case strings.HasSuffix(prefix, "/v1") && strings.HasPrefix(p, "v1/"):
			prefix += p[len("v1"):]
		default:
			prefix += "/" + p
		}
		head += prefix
	}
	if pathQuery != "" {
		query = strings.Trim(query+"&"+pathQuery, "&")
		hasQuery = true
	}
	if len(params) > 0 {
		query, hasQuery = setParams(query, params), true
	}
	if hasQuery && query != "" {
		head += "?" + query
	}
	return head, nil
}

// setParams replaces or appends query values and leaves all others unchanged.
func setParams(query string, params [][2]string) string {
	var pairs []string
	for _, p := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(p, "=")
		if n, err := url.QueryUnescape(name); err == nil {
			name = n
		}
		keep := p != ""
		for _, q := range params {
			keep = keep && q[0] != name
		}
		if keep {
			pairs = append(pairs, p)
		}
	}
	for _, q := range params {
		pairs = append(pairs, url.QueryEscape(q[0])+"="+url.QueryEscape(q[1]))
	}
	return strings.Join(pairs, "&")
}
