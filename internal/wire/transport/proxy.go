package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"

	"aiperf/internal/base/redact"
)

// proxy is a proxy server. It is used only if the options ask for it. For plain HTTP/1.1 the client sends it the whole URL; for TLS and HTTP/2 it
// requests a tunnel (RFC 9112, section 3.2.2; RFC 9110, section 9.3.6).
type proxy struct {
	target *Target // address of the proxy
	auth   string  // value of Proxy-Authorization, "" = none
	user   *url.Userinfo
}

// url returns the proxy's URL in the form that net/http expects.
func (p *proxy) url() (*url.URL, error) {
	u, err := url.Parse(p.target.URL)
	if err == nil {
		u.User = p.user
	}
	return u, err
}

// newProxy parses the URL of a proxy.
func newProxy(raw string) (*proxy, error) {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err == nil && strings.ToLower(u.Scheme) != "http" {
		err = fmt.Errorf("scheme %q is not supported; write http://HOST:PORT", u.Scheme)
	}
	if err == nil && u.Hostname() == "" {
		err = errors.New("has no host; write http://HOST:PORT")
	}
	if err != nil {
		var bad *url.Error
		if errors.As(err, &bad) {
			err = bad.Err
		}
		return nil, fmt.Errorf("%q: %w", redact.URL(raw), err)
	}
	p := &proxy{}
	if u.User != nil {
		pass, _ := u.User.Password()
		p.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+pass))
		p.user, u.User = u.User, nil
	}
	p.target, err = NewTarget(u.String())
	return p, err
}

// proxies chooses the proxy of a target.
type proxies struct {
	all      *proxy // proxy of every target; nil = the environment decides, if it is enabled
	fromEnv  bool
	byTarget sync.Map // pool key -> chosenProxy
}

// chosenProxy is the cached choice for one server.
type chosenProxy struct {
	proxy *proxy // nil = none
	err   error
}

func (p *proxies) init(opt Options) (err error) {
	if p.fromEnv = opt.ProxyFromEnv; opt.Proxy != "" {
		if p.all, err = newProxy(opt.Proxy); err != nil {
			return &SettingError{"proxy", err}
		}
	}
	return nil
}

// of returns the proxy of a target; nil = none.
func (p *proxies) of(t *Target) (*proxy, error) {
	switch {
	case t.socket != "":
		return nil, nil
	case p.all != nil:
		return p.all, nil
	case !p.fromEnv:
		return nil, nil
	}
	if c, ok := p.byTarget.Load(t.key); ok {
		return c.(chosenProxy).proxy, c.(chosenProxy).err
	}
	var c chosenProxy
	if raw := envProxy(t); raw != "" {
		c.proxy, c.err = newProxy(raw)
	}
	p.byTarget.Store(t.key, c)
	return c.proxy, c.err
}

// envProxy returns the proxy that the environment names for a target, following the same rules as the Python tool: http_proxy or https_proxy, lower
// case first, unless no_proxy exempts the host. Loopback addresses are not exempt by themselves.
func envProxy(t *Target) string {
	name := "http_proxy"
	if t.TLS {
		name = "https_proxy"
	}
	raw := lookEnv(name)
	if name == "http_proxy" && os.Getenv("REQUEST_METHOD") != "" {
		raw = os.Getenv(name) // in a CGI program HTTP_PROXY is set by a header of the client
	}
	if raw == "" || exempt(t, lookEnv("no_proxy")) {
		return ""
	}
	return raw
}

func lookEnv(name string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return os.Getenv(strings.ToUpper(name))
}

// exempt reports whether a no_proxy list exempts a host. Items are "*", names (which include their subdomains), addresses and networks in CIDR
// notation. All but networks may have a port.
func exempt(t *Target, list string) bool {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.ToLower(strings.TrimSpace(item))
		if item == "*" {
			return true
		}
		if network, err := netip.ParsePrefix(item); err == nil && t.literal && network.Contains(t.addr.Unmap()) {
			return true
		}
		if host, port, err := net.SplitHostPort(item); err == nil {
			if port != fmt.Sprint(t.Port) {
				continue
			}
			item = host
		}
		host := strings.ToLower(t.Host)
		item = strings.TrimLeft(strings.Trim(item, "[]"), ".")
		if item != "" && (host == item || strings.HasSuffix(host, "."+item)) {
			return true
		}
	}
	return false
}

// errTunnel reports that a proxy refused a tunnel.
type errTunnel struct{ status string }

func (e *errTunnel) Error() string { return "the proxy answered " + e.status }

// tunnel requests a connection to the target from a proxy.
func (p *proxy) tunnel(ctx context.Context, k *conn, t *Target) error {
	stop := context.AfterFunc(ctx, k.interrupt)
	defer stop()
	ask := "CONNECT " + t.Address() + " HTTP/1.1\r\nHost: " + t.Address() + "\r\n"
	if p.auth != "" {
		ask += "Proxy-Authorization: " + p.auth + "\r\n"
	}
	if _, err := k.socket.Write([]byte(ask + "\r\n")); err != nil {
		return err
	}
	var answer []byte
	for end := -1; end < 0; end = headEnd(answer, 0) {
		got, err := k.fill()
		if len(got) == 0 {
			return err
		}
		if answer = append(answer, got...); len(answer) > maxHead || !plausible(answer) {
			return malformed("Bad answer from the proxy: %s", quote(answer))
		}
	}
	k.release()
	end := headEnd(answer, 0)
	h, err := parseHead(string(answer[:end]))
	switch {
	case err != nil:
		return err
	case !h.ok():
		return &errTunnel{fmt.Sprintf("%d %s", h.status, h.reason)}
	case end < len(answer):
		return malformed("Unexpected bytes after the proxy's answer: %s", quote(answer[end:]))
	}
	if !stop() {
		return ctx.Err()
	}
	return nil
}
