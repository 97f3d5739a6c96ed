package transport

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/base/redact"
)

// Target is a parsed URL, so that requests need not parse it.
type Target struct {
	URL     string // complete URL without user information
	Host    string // name or literal to resolve, without brackets
	Port    int
	Path    string // request target: path and query, escaped
	TLS     bool
	host    string // value of the Host header, or of :authority
	addr    netip.Addr
	literal bool
	auth    string // Basic credentials of the URL, "" = none
	key     string // key of the connection pool
	socket  string // path of a Unix socket, "" = none
}

// NewTarget parses a complete URL (see JoinURL).
func NewTarget(raw string) (*Target, error) {
	full, err := NormalizeURL(raw)
	if err != nil {
		return nil, err
	}
	if socket, rest, ok := cutSocket(full); ok {
		t, err := NewTarget(socketHost + rest)
		if err != nil {
			return nil, err
		}
		t.URL, t.socket, t.key = full, socket, "unix://"+socket
		return t, nil
	}
	u, err := url.Parse(full)
	if err != nil {
		return nil, fmt.Errorf("URL %q: %w", redact.URL(raw), err)
	}
	t := &Target{Host: u.Hostname(), TLS: u.Scheme == "https" || u.Scheme == "grpcs", Path: u.RequestURI(), host: u.Host, Port: 80}
	if t.TLS {
		t.Port = 443
	}
	if p := u.Port(); p != "" {
		t.Port, _ = strconv.Atoi(p) // NormalizeURL has checked the port
		if t.Port == 80 && !t.TLS || t.Port == 443 && t.TLS {
			t.host = strings.TrimSuffix(u.Host, ":"+p)
		}
	}
	if u.User != nil {
		pass, _ := u.User.Password()
		t.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+pass))
		u.User = nil
	}
	u.Fragment = ""
	t.URL = u.String()
	if a, err := netip.ParseAddr(t.Host); err == nil {
		t.addr, t.literal = a, true
	}
	t.key = u.Scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(t.Port))
	return t, nil
}

// At returns the target for another path, with its query, on the same server.
func (t *Target) At(path string) (*Target, error) {
	origin := "unix://" + t.socket + ":"
	if t.socket == "" {
		scheme, rest, _ := strings.Cut(t.URL, "://")
		host, _, _ := strings.Cut(rest, "/")
		host, _, _ = strings.Cut(host, "?")
		origin = scheme + "://" + host
	}
	other, err := NewTarget(origin + path)
	if err == nil {
		other.auth = t.auth
	}
	return other, err
}

// SameOrigin reports whether another target is on the same server: scheme, host and port.
func (t *Target) SameOrigin(o *Target) bool { return t.key == o.key }

// Key identifies the server: scheme, host and port.
func (t *Target) Key() string { return t.key }

// Authority returns the name of the host as it is sent to the server.
func (t *Target) Authority() string { return t.host }

// Address returns host:port, for messages.
func (t *Target) Address() string { return net.JoinHostPort(t.Host, strconv.Itoa(t.Port)) }

// standIn returns a URL for HTTP clients that know no Unix sockets.
func (t *Target) standIn() string {
	if t.socket != "" {
		return socketHost + t.Path
	}
	return t.URL
}

// socketHost is the base URL in requests over a Unix socket.
const socketHost = "http://localhost"

// cutSocket parses the URL of a Unix socket in nginx notation: unix:///run/server.sock or unix:///run/server.sock:/prefix.
func cutSocket(raw string) (path, rest string, ok bool) {
	const scheme = "unix://"
	if len(raw) < len(scheme) || !strings.EqualFold(raw[:len(scheme)], scheme) {
		return "", "", false
	}
	path, rest, found := strings.Cut(raw[len(scheme):], ":/")
	if found {
		rest = "/" + rest
	}
	return path, rest, true
}

// maxSocketPath is the longest path of a Unix socket on Linux, in bytes.
const maxSocketPath = 107
