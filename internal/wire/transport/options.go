// Package transport sends requests to inference servers and stamps every step. It speaks HTTP/1.1 and HTTP/2 over TCP, TLS and Unix sockets. It
// accepts server-sent events cut at any byte. It never retries a request, follows no redirect, and uses no proxy and no compression unless the user
// asks for it. It does not interpret the content.
//
// A request has three steps, so that only the write remains for the intended instant:
//
//	x := client.Prepare(ctx, req) // a connection is picked or dialled, the head is built
//	x.Send()                      // stamps the start and writes without ever waiting
//	x.Receive(&rec, onMessage)    // reads to the end and fills the record; failures are data in rec.Error
//
// Bytes are stamped with the kernel's receive timestamp where there is one (Linux), otherwise with the instant at which the read returned.
package transport

import (
	"net/netip"
	"time"
)

// Reuse is the strategy that chooses the connection of a request (--connection-reuse-strategy).
type Reuse string

// The reuse strategies.
const (
	Pooled Reuse = "pooled"               // one shared pool of idle connections
	Never  Reuse = "never"                // a new connection for every request
	Sticky Reuse = "sticky-user-sessions" // one connection per session, closed with it
)

// Options are the settings of a Client. DefaultOptions returns the documented defaults.
type Options struct {
	Reuse       Reuse
	Timeout     time.Duration // whole request, from dialling to the last byte; 0 = none
	SendTimeout time.Duration // limit for sending a request that is to be cancelled, if Timeout gives none

	HTTP2 bool // over TLS if the server offers it, over plain connections always (prior knowledge)

	IdleTimeout time.Duration // idle connections older than this are not reused; 0 = no limit
	ForceClose  bool          // close every connection after its request

	DNSCache  bool
	DNSTTL    time.Duration
	IPVersion string // "4", "6" or "auto"; has no effect on IP literals

	LocalAddresses []netip.Addr // addresses that TCP connections leave from, in turn; nil = the system chooses

	ReceiveBuffer, SendBuffer int           // bytes, 0 = the system's default
	KeepIdle, KeepInterval    time.Duration // TCP keep-alive probes
	KeepCount                 int
	UserTimeout               time.Duration // TCP_USER_TIMEOUT, Linux; 0 = the system's default

	// MaxResponse is the size in bytes, after decompression, above which an answer is an error; 0 = DefaultMaxResponse. A stream may have one event
	// for each EventShare bytes of it. Bodies that are only counted (KeepBinary false) may have maxCounted bytes.
	MaxResponse int64

	TLS TLS

	Proxy        string // URL of a proxy for every request, "" = none
	ProxyFromEnv bool   // otherwise use HTTP_PROXY, HTTPS_PROXY and NO_PROXY
	Socket       string // path of a Unix socket that is used whatever the URL says, "" = none

	Capture    CaptureMode
	Loop       bool              // read answers in one loop, where the platform has it; pays off for streams
	Rest       bool              // let the loop rest where that changes no instant (restPacer)
	UserStamps bool              // use instants of user space even where the kernel stamps
	Warn       func(text string) // called once per kind of oddity; nil = no warnings
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

// DefaultMaxResponse is the largest answer in bytes unless Options set another. Many answers must fit into memory at once.
const DefaultMaxResponse = 64 << 20

// DefaultOptions returns the documented defaults (spec: transport, section 10.2).
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
