package transport

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/redact"
)

// Target is a URL taken apart once, so that requests need not parse it.
type Target struct {
	URL     string // without user information
	Host    string // name or literal to resolve, without brackets
	Port    int
	Path    string // request target: path and query, escaped
	TLS     bool
	host    string // value of the Host header
	addr    netip.Addr
	literal bool
	auth    string // Basic credentials of the URL, "" = none
	key     string // what connections are pooled by
}

// NewTarget takes a complete URL apart (see JoinURL).
func NewTarget(raw string) (*Target, error) {
	full, err := NormalizeURL(raw)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(full)
	if err != nil {
		return nil, fmt.Errorf("URL %q: %w", redact.URL(raw), err)
	}
	t := &Target{Host: u.Hostname(), TLS: u.Scheme == "https", Path: u.RequestURI(), host: u.Host, Port: 80}
	if t.TLS {
		t.Port = 443
	}
	if p := u.Port(); p != "" {
		t.Port, _ = strconv.Atoi(p) // NormalizeURL checked it
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

// SameOrigin tells whether another target is on the same server: scheme, host and port.
func (t *Target) SameOrigin(o *Target) bool { return t.key == o.key }

// Address is host:port, for messages.
func (t *Target) Address() string { return net.JoinHostPort(t.Host, strconv.Itoa(t.Port)) }
