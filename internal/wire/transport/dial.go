package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// dial makes a connection to a target: name lookup, TCP, tunnel, TLS. A loop watches its socket, if there is one.
func (c *Client) dial(ctx context.Context, t *Target, tr *record.Trace, loop *readLoop) (*conn, error) {
	through, err := c.proxies.of(t)
	if err != nil {
		return nil, &dialError{stage: stageTCP, err: err}
	}
	at := t
	if through != nil {
		at = through.target
	}
	s, dialled, err := c.dialSocket(ctx, at, tr)
	if err != nil {
		return nil, err
	}
	k, err := newConn(loop.watched(s), t.key, c.realTime, !c.opt.UserStamps, &c.empty)
	if err != nil {
		s.Close()
		return nil, &dialError{stage: stageTCP, err: err}
	}
	k.delays.log = &c.delays
	k.flow = c.track(s, dialled)
	if through != nil && (t.TLS || c.opt.HTTP2) {
		if err := through.tunnel(ctx, k, t); err != nil {
			k.close()
			return nil, &dialError{stage: stageTunnel, err: err}
		}
	}
	if t.TLS {
		if err := c.handshake(ctx, k, t); err != nil {
			k.close()
			return nil, &dialError{stage: stageTLS, err: err}
		}
	}
	tr.ConnectEnd = clock.Now()
	c.count.dialled.Add(1)
	return k, nil
}

// started returns the client's loop; nil = Go's poller has to wait for the sockets.
func (c *Client) started() *readLoop {
	if !c.opt.Loop {
		return nil
	}
	c.loopOnce.Do(func() { c.loop = newReadLoop(c.pace) })
	return c.loop
}

// socketOf returns the path of the Unix socket for a target, "" = none.
func (o *Options) socketOf(t *Target) string {
	if o.Socket != "" {
		return o.Socket
	}
	return t.socket
}

// dialSocket makes the TCP or Unix connection and returns the instant at which it was made. It tries the addresses one after the other in the
// resolver's order.
func (c *Client) dialSocket(ctx context.Context, t *Target, tr *record.Trace) (s socket, dialled int64, err error) {
	if path := c.opt.socketOf(t); path != "" {
		tr.ConnectStart = clock.Now()
		d := net.Dialer{Control: c.opt.control}
		n, err := dialUnix(ctx, &d, path)
		if err != nil {
			return nil, 0, &dialError{stage: stageTCP, err: err}
		}
		return n.(*net.UnixConn), tr.ConnectStart, nil
	}
	addrs, err := c.dns.find(ctx, t, c.opt.IPVersion, tr)
	if err != nil {
		return nil, 0, &dialError{stage: stageDNS, err: err}
	}
	tr.ConnectStart = clock.Now()
	for _, a := range addrs {
		c.watch(netip.AddrPortFrom(a, uint16(t.Port)))
		dialled = clock.Now()
		tcp, err := c.dialTCP(ctx, a, t.Port)
		if err == nil {
			return tcp, dialled, nil
		}
		if ctx.Err() != nil || a == addrs[len(addrs)-1] {
			return nil, 0, &dialError{stage: stageTCP, err: err}
		}
	}
	return nil, 0, &dialError{stage: stageDNS, err: errNoAddress}
}

// Waits between attempts to connect to a Unix socket whose queue is full. The longest is the delay that a server which accepts again may see.
const (
	shortestQueueWait = 500 * time.Microsecond
	longestQueueWait  = 8 * time.Millisecond
)

// dialUnix connects to a Unix socket. If the server has not yet accepted as many connections as its queue holds, the system refuses with EAGAIN. Over TCP
// it would try again by itself until the context ends, so this does the same.
func dialUnix(ctx context.Context, d *net.Dialer, path string) (net.Conn, error) {
	for wait := shortestQueueWait; ; wait = min(2*wait, longestQueueWait) {
		n, err := d.DialContext(ctx, "unix", path)
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		select {
		case <-ctx.Done(): // the next attempt returns the error
		case <-time.After(wait):
		}
	}
}

// errNoAddress reports that a name has no address of the requested IP version.
var errNoAddress = errors.New("the name has no address of this IP version")

func (c *Client) dialTCP(ctx context.Context, a netip.Addr, port int) (*net.TCPConn, error) {
	network := "tcp4"
	if a.Is6() {
		network = "tcp6"
	}
	d := net.Dialer{
		FallbackDelay: -1,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: c.opt.KeepIdle, Interval: c.opt.KeepInterval, Count: c.opt.KeepCount,
		},
		Control: c.opt.control,
	}
	if len(c.opt.LocalAddresses) > 0 {
		from, err := c.localAddress(a)
		if err != nil {
			return nil, err
		}
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	n, err := d.DialContext(ctx, network, netip.AddrPortFrom(a, uint16(port)).String())
	if err != nil {
		return nil, err
	}
	return n.(*net.TCPConn), nil
}

// localAddress returns the next local address of the same IP version as the server's address.
func (c *Client) localAddress(server netip.Addr) (netip.Addr, error) {
	list := c.opt.LocalAddresses
	for range list {
		one := list[(c.dials.Add(1)-1)%uint64(len(list))]
		if one.Is4() == server.Is4() {
			return one, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("no local address has the IP version of %v", server)
}

// handshake sets up TLS on a connection. Stamps still come from the TCP reads below it.
func (c *Client) handshake(ctx context.Context, k *conn, t *Target) error {
	cfg := c.tls
	if cfg.ServerName == "" {
		cfg = cfg.Clone()
		cfg.ServerName = t.Host
	}
	if c.opt.TLS.SkipNameVerify && !c.opt.TLS.Insecure {
		cfg = chainOnly(cfg)
	}
	s := tls.Client(k, cfg)
	if err := s.HandshakeContext(ctx); err != nil {
		return err
	}
	k.tls, k.sealed = s, true
	return nil
}

// maxCertificates is how many bytes are read at most from a file of certificates or keys.
const maxCertificates = 16 << 20

// config reads the certificate files and returns the TLS configuration.
func (o *TLS) config() (*tls.Config, error) {
	cfg := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		ServerName: o.ServerName, InsecureSkipVerify: o.Insecure, //nolint:gosec // the user decides
	}
	if o.Protocols != nil {
		cfg.NextProtos = o.Protocols
	}
	if o.CAFile != "" {
		pem, err := boundedfile.ReadAll(o.CAFile, maxCertificates)
		if err != nil {
			return nil, &SettingError{"tls.ca_file", err}
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &SettingError{"tls.ca_file", fmt.Errorf("%s has no PEM certificate", o.CAFile)}
		}
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return nil, &SettingError{"tls.cert_file", errors.New("a client certificate and its private key must be given together")}
	}
	if o.CertFile != "" {
		chain, err := boundedfile.ReadAll(o.CertFile, maxCertificates)
		if err != nil {
			return nil, &SettingError{"tls.cert_file", err}
		}
		key, err := boundedfile.ReadAll(o.KeyFile, maxCertificates)
		if err != nil {
			return nil, &SettingError{"tls.key_file", err}
		}
		pair, err := tls.X509KeyPair(chain, key)
		if err != nil {
			return nil, &SettingError{"tls.cert_file", fmt.Errorf("%s with key %s: %w", o.CertFile, o.KeyFile, err)}
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// chainOnly verifies the chain of certificates but not the host name.
func chainOnly(cfg *tls.Config) *tls.Config {
	cfg = cfg.Clone()
	roots := cfg.RootCAs
	cfg.InsecureSkipVerify = true
	cfg.VerifyConnection = func(s tls.ConnectionState) error {
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		if _, err := s.PeerCertificates[0].Verify(o); err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
		}
		return nil
	}
	return cfg
}
