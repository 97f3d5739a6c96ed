package connection

import (
	"net/netip"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// Options returns the options of the connections of a run. It calls warn for unusual settings; nil = no warnings.
func Options(b *config.Benchmark, warn func(string)) transport.Options {
	o, tuning := transport.DefaultOptions(), b.Environment.HTTP
	o.Reuse = transport.Reuse(b.Endpoint.ConnectionReuse)
	o.Capture = transport.CaptureMode(b.Endpoint.Capture)
	o.Timeout = 0
	if !b.Endpoint.Timeout.Infinite() {
		o.Timeout = b.Endpoint.Timeout.Duration()
	}
	o.SendTimeout = tuning.CancelSendTimeout.Duration()
	o.IdleTimeout = tuning.KeepaliveTimeout.Duration()
	o.ForceClose = tuning.ForceClose
	o.DNSTTL = tuning.TTLDNSCache.Duration()
	o.DNSCache = o.DNSTTL > 0
	o.IPVersion = tuning.IPVersion
	o.SendBuffer, o.ReceiveBuffer = tuning.SendBuffer, tuning.ReceiveBuffer
	o.MaxResponse = int64(tuning.MaxResponseBytes)
	e := &b.Endpoint
	o.HTTP2, o.Proxy, o.ProxyFromEnv, o.Socket = e.HTTPVersion == config.HTTP2, e.Proxy, tuning.TrustEnv, e.Socket
	o.TLS = transport.TLS{
		Insecure: e.TLS.Insecure || !tuning.SSLVerify, CAFile: e.TLS.CAFile, CertFile: e.TLS.CertFile, KeyFile: e.TLS.KeyFile, ServerName: e.TLS.ServerName,
	}
	for _, text := range e.LocalAddresses {
		if a, err := netip.ParseAddr(text); err == nil { // the configuration was checked
			o.LocalAddresses = append(o.LocalAddresses, a)
		}
	}
	o.Loop = b.Endpoint.Streaming // one read for a whole answer gains nothing
	o.Rest = o.Loop
	o.Warn = warn
	return o
}

// Headers returns the request headers of a run.
func Headers(b *config.Benchmark, agent string) transport.HeaderSet {
	tuning := b.Environment.HTTP
	h := transport.HeaderSet{
		UserAgent:         agent,
		CorrelationHeader: b.Endpoint.SessionHeader,
		APIKey:            b.Endpoint.APIKey,
		Streaming:         b.Endpoint.Streaming,
		SessionAffinity:   tuning.SessionAffinity,
		SessionID:         tuning.SessionIDHeader,
		SMGRoutingKey:     tuning.SMGRoutingKeyHeader,
		DynamoSession:     tuning.DynamoSessionHeader,
	}
	for _, u := range b.Endpoint.Headers {
		h.User = append(h.User, record.Header{Name: u.Name, Value: u.Value})
	}
	return h
}

// UserAgent returns the User-Agent of all requests.
func UserAgent(version string) string { return "aiperf/" + version }
