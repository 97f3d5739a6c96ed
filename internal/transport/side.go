package transport

import (
	"context"
	"net"
	"net/http"
	"net/url"
)

// RoundTripper is the way to a target for what is not measured, such as a list of models: the same certificates, proxy, socket and addresses.
// Its URL is that of the target, or of a stand-in where the target is a Unix socket. It keeps no connection.
func (o Options) RoundTripper(t *Target) (rt http.RoundTripper, address string, err error) {
	cfg, err := o.TLS.config()
	if err != nil {
		return nil, "", err
	}
	if o.TLS.SkipNameVerify && !o.TLS.Insecure {
		cfg = chainOnly(cfg)
	}
	cfg.NextProtos = nil
	var through proxies
	if err := through.init(o); err != nil {
		return nil, "", err
	}
	p, err := through.of(t)
	if err != nil {
		return nil, "", err
	}
	tr := &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true, DisableCompression: true}
	if p != nil {
		tr.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(p.target.URL) }
		if p.auth != "" {
			tr.ProxyConnectHeader = http.Header{"Proxy-Authorization": {p.auth}}
		}
	}
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if path := o.socketOf(t); path != "" {
			network, address = "unix", path
		} else if o.IPVersion == "4" || o.IPVersion == "6" {
			network += o.IPVersion
		}
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	if o.HTTP2 {
		var protocols http.Protocols
		protocols.SetHTTP1(t.TLS)
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
		tr.Protocols = &protocols
	}
	return tr, t.standIn(), nil
}
