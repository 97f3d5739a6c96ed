package connection

import (
	"reflect"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/wire/transport"
)

// TestWiringOfTheTransport: every setting arrives in its own option. No two of one type are alike, so that none can stand in for another.
func TestWiringOfTheTransport(t *testing.T) {
	b := &config.Default().Benchmark
	b.Endpoint.ConnectionReuse, b.Endpoint.Capture, b.Endpoint.Timeout = "never", "on", 11
	b.Environment.HTTP = config.HTTPTuning{
		KeepaliveTimeout: 12, TTLDNSCache: 13, CancelSendTimeout: 14, SendBuffer: 15, ReceiveBuffer: 16, MaxResponseBytes: 17,
		IPVersion: "6", ForceClose: true, SSLVerify: false, TrustEnv: true,
	}
	b.Endpoint.HTTPVersion, b.Endpoint.Proxy, b.Endpoint.Socket = "2", "p", "s"
	b.Endpoint.TLS = config.TLS{CAFile: "a", CertFile: "c", KeyFile: "k", ServerName: "n"}
	want := transport.DefaultOptions()
	want.Reuse, want.Capture, want.Timeout = transport.Never, transport.CaptureOn, 11*time.Second
	want.IdleTimeout, want.DNSTTL, want.DNSCache, want.SendTimeout = 12*time.Second, 13*time.Second, true, 14*time.Second
	want.SendBuffer, want.ReceiveBuffer, want.MaxResponse, want.IPVersion, want.ForceClose = 15, 16, 17, "6", true
	want.TLS = transport.TLS{Insecure: true, CAFile: "a", CertFile: "c", KeyFile: "k", ServerName: "n"}
	want.HTTP2, want.Proxy, want.Socket, want.ProxyFromEnv = true, "p", "s", true
	if got := Options(b, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}

	b.Endpoint.Timeout = config.Forever
	b.Environment.HTTP.SSLVerify, b.Environment.HTTP.ForceClose, b.Environment.HTTP.TTLDNSCache = true, false, 0
	want.Timeout, want.TLS.Insecure, want.ForceClose, want.DNSTTL, want.DNSCache = 0, false, false, 0, false
	if got := Options(b, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}

	b.Endpoint.TLS.Insecure, want.TLS.Insecure = true, true
	if got := Options(b, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}

	warned := ""
	Options(b, func(text string) { warned = text }).Warn("odd")
	if warned != "odd" {
		t.Error("a warning of the transport is lost")
	}
}
