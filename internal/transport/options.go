// Package transport carries requests to inference servers and stamps every instant on the way: HTTP/1.1 and HTTP/2 over TCP, TLS and Unix
// sockets, server-sent events cut at arbitrary byte boundaries, no retry, no redirect, no proxy, nothing asked for that the user did not ask for.
// It knows nothing of what the bytes mean.
//
// A request has three steps, so that at the intended instant only the write is left:
//
//	x := client.Prepare(ctx, req) // a connection is picked or dialled, the head is built
//	x.Send()                      // stamps the start and writes without ever waiting
//	x.Receive(&rec, onMessage)    // reads to the end and fills the record; failures are data in rec.Error
//
// Bytes are stamped with the kernel's receive timestamp where there is one (Linux), else with the instant at which the read returned.
package transport

import (
	"time"
)

// Reuse says which connections a request may use (--connection-reuse-strategy).
type Reuse string

// The reuse strategies.
const (
	Pooled Reuse = "pooled"               // one shared pool of idle connections
	Never  Reuse = "never"                // a new connection for every request
	Sticky Reuse = "sticky-user-sessions" // one connection per session, closed with it
)

// Options are the settings of a Client. DefaultOptions gives the documented defaults.
type Options struct {
	Reuse       Reuse
	Timeout     time.Duration // whole request: dialling to last byte; 0 = none
	SendTimeout time.Duration // bound on sending a request that is to be cancelled, where Timeout gives none

	HTTP2 bool // over TLS where the server offers it, over plain connections always (prior knowledge)

	IdleTimeout time.Duration // an idle connection older than this is not used again; 0 = no limit
	ForceClose  bool          // close every connection after its request

	DNSCache  bool
	DNSTTL    time.Duration
	IPVersion string // "4", "6" or "auto"; does not bind IP literals

	ReceiveBuffer, SendBuffer int           // bytes, 0 = the system's
	KeepIdle, KeepInterval    time.Duration // TCP keep-alive probes
	KeepCount                 int
	UserTimeout               time.Duration // TCP_USER_TIMEOUT, Linux; 0 = the system's

	// MaxResponse is the size in bytes, compressed data inflated, above which an answer is an error; 0 = DefaultMaxResponse. A stream
	// may have one event for each eventShare bytes of it. Bodies that are only counted (KeepBinary false) may have maxCounted bytes.
	MaxResponse int64

	TLS TLS

	Proxy        string // URL of a proxy for every request, "" = none
	ProxyFromEnv bool   // else that of HTTP_PROXY, HTTPS_PROXY and NO_PROXY
	Socket       string // path of a Unix socket to connect to whatever the URL says, "" = none

	Capture    CaptureMode
	UserStamps bool              // take instants in user space even where the kernel stamps
	Warn       func(text string) // called once per kind of oddity; nil = nobody listens
}

// TLS are the settings of https URLs. Files are PEM.
type TLS struct {
	Insecure       bool   // accept any certificate
	CAFile         string // roots to trust instead of the system's
	CertFile       string // client certificate
	KeyFile        string // its private key
	ServerName     string // name to verify and to send instead of the URL's host
	SkipNameVerify bool   // verify the chain but not the host name
	// Protocols are offered to the server (ALPN); nil = HTTP/1.1.
	Protocols []string
}

// DefaultMaxResponse is the largest answer unless Options say otherwise: what a server sends must fit beside the answers of many others.
const DefaultMaxResponse = 64 << 20

// DefaultOptions are the documented defaults (spec: transport, section 10.2).
func DefaultOptions() Options {
	return Options{
		Reuse:         Pooled,
		Timeout:       21600 * time.Second,
		SendTimeout:   300 * time.Second,
		IdleTimeout:   300 * time.Second,
		DNSCache:      true,
		DNSTTL:        300 * time.Second,
		IPVersion:     "4",
		ReceiveBuffer: 10485760,
		SendBuffer:    10485760,
		KeepIdle:      60 * time.Second,
		KeepInterval:  30 * time.Second,
		KeepCount:     1,
		UserTimeout:   30 * time.Second,
		MaxResponse:   DefaultMaxResponse,
	}
}
