package transport

import (
	"context"
	"sync"
	"time"

	"aiperf/internal/clock"
)

// pool holds the idle connections and the permits to open new ones.
type pool struct {
	mu       sync.Mutex
	limit    int
	perHost  int
	idleFor  int64 // ns
	hosts    map[string]*hostPool
	sessions map[string]*conn // idle sticky connections
	opened   int
	most     int
	waiters  []*waiter // in order of arrival
	closed   bool
}

type hostPool struct {
	idle   []*conn // the last one put back is taken first
	opened int
}

// waiter is a request that waits for a connection. It gets an idle connection of its host, or nil = a permit to dial.
type waiter struct {
	key  string
	got  chan *conn
	host *hostPool
}

func (p *pool) init(opt Options) {
	p.limit, p.perHost, p.idleFor = opt.Connections, opt.PerHost, int64(opt.IdleTimeout)
	p.hosts = map[string]*hostPool{}
	p.sessions = map[string]*conn{}
}

func (p *pool) host(key string) *hostPool {
	h := p.hosts[key]
	if h == nil {
		h = &hostPool{}
		p.hosts[key] = h
	}
	return h
}

// get gives an idle connection, or nil and with it the permit to dial one. wait is called once if no permit is free.
func (p *pool) get(key string, fresh bool, wait func() (context.Context, context.CancelFunc)) (*conn, error) {
	p.mu.Lock()
	h := p.host(key)
	if !fresh {
		if c := p.takeIdle(h); c != nil {
			p.mu.Unlock()
			return c, nil
		}
	}
	if p.permit(h) {
		p.mu.Unlock()
		return nil, nil
	}
	w := &waiter{key: key, host: h, got: make(chan *conn, 1)}
	p.waiters = append(p.waiters, w)
	p.mu.Unlock()
	ctx, stop := wait()
	defer stop()
	select {
	case c := <-w.got:
		if fresh && c != nil { // the strategy wants a new one: trade the connection for its permit
			c.close()
			return nil, nil
		}
		return c, nil
	case <-ctx.Done():
	}
	p.abandon(w)
	return nil, ctx.Err()
}

// abandon takes a waiter out of the queue; what it was given in the meantime goes to the next.
func (p *pool) abandon(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, o := range p.waiters {
		if o == w {
			p.waiters = append(p.waiters[:i], p.waiters[i+1:]...)
			return
		}
	}
	if c := <-w.got; c != nil {
		p.putLocked(c)
	} else {
		p.releaseLocked(w.host)
	}
}

// takeIdle takes the idle connection that was used last; those that were idle for too long are closed.
func (p *pool) takeIdle(h *hostPool) *conn {
	p.expire(h)
	n := len(h.idle)
	if n == 0 {
		return nil
	}
	c := h.idle[n-1]
	h.idle[n-1] = nil
	h.idle = h.idle[:n-1]
	return c
}

func (p *pool) expire(h *hostPool) {
	if p.idleFor <= 0 {
		return
	}
	now, n := clock.Now(), 0
	for n < len(h.idle) && now-h.idle[n].idleSince > p.idleFor {
		h.idle[n].close()
		p.forget(h)
		n++
	}
	if n > 0 {
		h.idle = append(h.idle[:0], h.idle[n:]...)
	}
}

// permit counts one more open connection if the limits allow it; an idle connection makes room, so that nobody waits for one that
// nobody uses.
func (p *pool) permit(h *hostPool) bool {
	if p.perHost > 0 && h.opened >= p.perHost && !p.closeIdle(h) {
		return false
	}
	if p.limit > 0 && p.opened >= p.limit && !p.makeRoom() {
		return false
	}
	p.opened++
	h.opened++
	p.most = max(p.most, p.opened)
	return true
}

// makeRoom closes one idle connection of any host.
func (p *pool) makeRoom() bool {
	for _, h := range p.hosts {
		if h.opened > 0 && p.closeIdle(h) {
			return true
		}
	}
	return false
}

// closeIdle closes the oldest idle connection of a host, else that of an idle session.
func (p *pool) closeIdle(h *hostPool) bool {
	if len(h.idle) > 0 {
		h.idle[0].close()
		h.idle = append(h.idle[:0], h.idle[1:]...)
		p.forget(h)
		return true
	}
	for s, c := range p.sessions {
		if p.hosts[c.key] == h {
			delete(p.sessions, s)
			c.close()
			p.forget(h)
			return true
		}
	}
	return false
}

func (p *pool) forget(h *hostPool) {
	p.opened--
	h.opened--
}

// put takes a connection back for the next request.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putLocked(c)
}

func (p *pool) putLocked(c *conn) {
	h := p.host(c.key)
	if p.closed {
		c.close()
		p.releaseLocked(h)
		return
	}
	c.idleSince = clock.Now()
	for i, w := range p.waiters {
		if w.key == c.key {
			p.waiters = append(p.waiters[:i], p.waiters[i+1:]...)
			w.got <- c
			return
		}
	}
	h.idle = append(h.idle, c)
	p.grant()
}

// release gives back the permit of a connection that was closed, or never came about.
func (p *pool) release(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.releaseLocked(p.host(key))
}

func (p *pool) releaseLocked(h *hostPool) {
	p.forget(h)
	p.grant()
}

// grant gives permits to all waiters that the limits allow one, in order of arrival.
func (p *pool) grant() {
	kept := p.waiters[:0]
	for _, w := range p.waiters {
		if p.permit(w.host) {
			w.got <- nil
		} else {
			kept = append(kept, w)
		}
	}
	clear(p.waiters[len(kept):])
	p.waiters = kept
}

// session takes the idle connection of a session; nil = none.
func (p *pool) session(id, key string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.sessions[id]
	if c == nil || c.key != key {
		return nil
	}
	delete(p.sessions, id)
	return c
}

// keep stores the connection of a session until its next turn.
func (p *pool) keep(id string, c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.sessions[id] != nil {
		c.close()
		p.releaseLocked(p.host(c.key))
		return
	}
	c.idleSince = clock.Now()
	p.sessions[id] = c
	p.grant()
}

// drop closes the idle connection of a session.
func (p *pool) drop(id string) {
	p.mu.Lock()
	c := p.sessions[id]
	delete(p.sessions, id)
	p.mu.Unlock()
	if c != nil {
		c.close()
		p.release(c.key)
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, h := range p.hosts {
		for _, c := range h.idle {
			c.close()
			p.forget(h)
		}
		h.idle = nil
	}
	for id, c := range p.sessions {
		delete(p.sessions, id)
		c.close()
		p.forget(p.host(c.key))
	}
}

func (p *pool) open() (now, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened, p.most
}

// until gives a context that ends at an instant; 0 = the context itself.
func until(ctx context.Context, at int64) (context.Context, context.CancelFunc) {
	if at == 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, wallTime(at))
}

// wallTime is an instant as a time.Time whose monotonic reading is exact.
func wallTime(at int64) time.Time {
	now := time.Now()
	return now.Add(time.Duration(at - clock.Now()))
}
