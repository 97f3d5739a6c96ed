package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
)

// RoundTripper returns an HTTP transport to a target for requests that are not measured, for example to list models. It uses the same certificates,
// proxy, socket and addresses as the measured requests and keeps no connection open. address is the URL of the target, or a stand-in URL if the
// target is a Unix socket.
func (o Options) RoundTripper(t *Target) (rt http.RoundTripper, address string, err error) {
	cfg, err := o.SideTLS(true)
	if err != nil {
		return nil, "", err
	}
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
		tr.Proxy = func(*http.Request) (*url.URL, error) { return p.url() }
	}
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		if path := o.socketOf(t); path != "" {
			return dialUnix(ctx, &d, path)
		}
		if o.IPVersion == "4" || o.IPVersion == "6" {
			network += o.IPVersion
		}
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

// Downloads returns the HTTP transport for other hosts, for example for the media of a dataset. It uses the root certificates and addresses of the
// run, and its proxy or else the proxy of the environment. It never sends the run's credentials.
func (o Options) Downloads() (*http.Transport, error) {
	cfg, err := o.SideTLS(false)
	if err != nil {
		return nil, err
	}
	o.ProxyFromEnv = true
	through := new(proxies)
	if err := through.init(o); err != nil {
		return nil, err
	}
	return &http.Transport{
		TLSClientConfig: cfg,
		Proxy: func(r *http.Request) (*url.URL, error) {
			t, err := NewTarget(r.URL.String())
			if err != nil {
				return nil, err
			}
			p, err := through.of(t)
			if p == nil || err != nil {
				return nil, err
			}
			return p.url()
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if o.IPVersion == "4" || o.IPVersion == "6" {
				network += o.IPVersion
			}
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
	}, nil
}

// SideTLS returns the TLS configuration of requests that are not measured, with the run's root certificates. With own, the server belongs to the run:
// the configuration then includes the client certificate and the server name.
func (o Options) SideTLS(own bool) (*tls.Config, error) {
	t := o.TLS
	if !own {
		t.CertFile, t.KeyFile, t.ServerName = "", "", ""
	}
	cfg, err := t.config()
	if err != nil {
		return nil, err
	}
	if t.SkipNameVerify && !t.Insecure {
		cfg = chainOnly(cfg)
	}
	cfg.NextProtos = nil
	return cfg, nil
}
