package transport

import (
	"context"
	"sync"

	"golang.org/x/net/http2"

	"aiperf/internal/base/clock"
)

// h2pool holds the HTTP/2 connections of a client. A connection carries as many streams as its server allows. Further streams get a further
// connection, because waiting for another stream would be a hidden limit of concurrency.
type h2pool struct {
	mu       sync.Mutex
	hosts    map[string]*h2host // by pool key
	sessions map[string]*h2conn // sticky connections
	closed   bool
}

// h2host is the state of one server.
type h2host struct {
	conns   []*h2conn
	dialing chan struct{} // closed when the running dial is done; nil = no dial is running
	http1   bool          // the server chose HTTP/1.1
}

// host returns the state of a server. The caller holds p.mu.
func (p *h2pool) host(key string) *h2host {
	h := p.hosts[key]
	if h == nil {
		if p.hosts == nil {
			p.hosts = map[string]*h2host{}
		}
		h = &h2host{}
		p.hosts[key] = h
	}
	return h
}

// reserve reserves room for a stream on a usable connection and drops connections that have ended. The caller holds p.mu.
func (h *h2host) reserve(idleFor int64) *h2conn {
	kept := h.conns[:0]
	var found *h2conn
	for _, c := range h.conns {
		if !c.usable(idleFor) {
			c.retire()
			continue
		}
		kept = append(kept, c)
		if found == nil && c.reserve() {
			found = c
		}
	}
	clear(h.conns[len(kept):])
	h.conns = kept
	return found
}

// close retires every connection.
func (p *h2pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, h := range p.hosts {
		for _, c := range h.conns {
			c.retire()
		}
	}
	for _, c := range p.sessions {
		c.retire()
	}
	clear(p.hosts)
	clear(p.sessions)
}

// drop retires the connection of a session.
func (p *h2pool) drop(session string) {
	p.mu.Lock()
	c := p.sessions[session]
	delete(p.sessions, session)
	p.mu.Unlock()
	if c != nil {
		c.retire()
	}
}

// acquireStream gets a stream of a connection, or a whole connection if the server chose HTTP/1.1. If the strategy does not share connections, the
// stream is on the session's connection or on a new one.
func (x *Exchange) acquireStream(fresh bool) error {
	p, key := &x.client.streams, x.req.Target.key
	p.mu.Lock()
	if p.host(key).http1 {
		p.mu.Unlock()
		return x.acquireConn(fresh)
	}
	if reuse := x.client.opt.Reuse; reuse != Pooled || x.client.opt.ForceClose {
		c := p.sessions[x.req.Session]
		p.mu.Unlock()
		if reuse == Sticky && c != nil && c.k.key == key && c.reserve() {
			x.useStream(c, true)
			return nil
		}
		_, err := x.dialStream()
		return err
	}
	p.mu.Unlock()
	return x.shareStream()
}

// shareStream gets a stream of a connection that others use as well. One exchange at a time dials; the others wait for its result.
func (x *Exchange) shareStream() error {
	p, key := &x.client.streams, x.req.Target.key
	ctx, stop := until(x.ctx, x.deadline)
	defer stop()
	for {
		p.mu.Lock()
		h := p.host(key)
		if h.http1 {
			p.mu.Unlock()
			return x.acquireConn(false)
		}
		if c := h.reserve(int64(x.client.opt.IdleTimeout)); c != nil {
			p.mu.Unlock()
			x.useStream(c, true)
			return nil
		}
		if wait := h.dialing; wait != nil {
			p.mu.Unlock()
			if err := x.waitFor(ctx, wait); err != nil {
				return err
			}
			continue
		}
		h.dialing = make(chan struct{})
		full := len(h.conns) > 0
		p.mu.Unlock()
		if full {
			x.client.warn("streams", "the server allows fewer streams per HTTP/2 connection than there are concurrent requests; aiperf opens more connections")
		}
		c, err := x.dialStream()
		p.mu.Lock()
		close(h.dialing)
		if h.dialing = nil; c != nil {
			h.conns = append(h.conns, c)
			if p.closed {
				c.retire()
			}
		}
		p.mu.Unlock()
		return err
	}
}

// waitFor waits for a connection that another exchange is making.
func (x *Exchange) waitFor(ctx context.Context, dialled chan struct{}) error {
	if x.trace.PoolWaitStart == 0 {
		x.trace.PoolWaitStart = clock.Now()
	}
	defer func() { x.trace.PoolWaitEnd = clock.Now() }()
	select {
	case <-dialled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dialStream makes a connection and takes its first stream. It returns nil without an error if the server chose HTTP/1.1; the exchange then has the
// whole connection.
func (x *Exchange) dialStream() (*h2conn, error) {
	x.client.pool.count()
	k, err := x.dial()
	if err != nil {
		return nil, err
	}
	if k.tls != nil && k.tls.ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		x.client.warn("http1", "the server does not support HTTP/2 over TLS; aiperf uses HTTP/1.1")
		p := &x.client.streams
		p.mu.Lock()
		p.host(x.req.Target.key).http1 = true
		p.mu.Unlock()
		return nil, x.useConn(k)
	}
	ctx, stop := until(x.ctx, x.deadline)
	defer stop()
	c, err := x.client.openHTTP2(ctx, k)
	if err != nil {
		return nil, &dialError{stage: stageHTTP2, err: err}
	}
	x.trace.ConnectEnd = clock.Now()
	c.reserve() // no other exchange knows the connection yet
	x.useStream(c, false)
	return c, nil
}

// useStream makes the exchange a stream of a connection.
func (x *Exchange) useStream(c *h2conn, reused bool) {
	if x.trace.Reused = 0; reused {
		x.trace.Reused = clock.Now()
	}
	x.stream = newStream(c)
	if reused {
		x.stream.firstTCP = c.k.tcpState()
	}
	x.in, x.link = &x.stream.readState, x.stream
}

// leaveStream ends the use of a stream. If the strategy does not share connections, the connection ends as well or waits for its session.
func (x *Exchange) leaveStream(good bool) {
	s, o, p := x.stream, &x.client.opt, &x.client.streams
	x.stream = nil
	s.delays.flush()
	x.client.count.stamped.Add(int64(s.reads))
	x.client.count.unstamped.Add(int64(s.unstamped))
	if o.Reuse == Pooled && !o.ForceClose {
		s.close(x.sent != 0)
		return
	}
	keep := good && o.Reuse == Sticky && !o.ForceClose && !x.req.LastTurn && x.err == nil
	p.mu.Lock()
	switch {
	case keep && !p.closed:
		if p.sessions == nil {
			p.sessions = map[string]*h2conn{}
		}
		if old := p.sessions[x.req.Session]; old != nil && old != s.conn {
			old.retire()
		}
		p.sessions[x.req.Session] = s.conn
	default:
		keep = false
		if p.sessions[x.req.Session] == s.conn {
			delete(p.sessions, x.req.Session)
		}
	}
	p.mu.Unlock()
	s.close(x.sent != 0)
	if !keep {
		s.conn.retire()
	}
}
