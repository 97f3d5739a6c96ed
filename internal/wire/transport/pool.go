package transport

import (
	"context"
	"sync"
	"time"

	"aiperf/internal/base/clock"
)

// pool holds the idle connections and counts the open ones. Their number has no limit: a limit below the requests in flight would be a hidden limit
// of concurrency.
type pool struct {
	mu       sync.Mutex
	idleFor  int64              // ns
	idle     map[string][]*conn // by host; last in, first out
	sessions map[string]*conn   // idle sticky connections
	opened   int
	maxOpen  int
	closed   bool
}

func (p *pool) init(opt Options) {
	p.idleFor = int64(opt.IdleTimeout)
	p.idle = map[string][]*conn{}
	p.sessions = map[string]*conn{}
}

// get returns the most recently used idle connection of a host. nil = the caller must dial one, which already counts as open.
func (p *pool) get(key string, fresh bool) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !fresh {
		p.expire(key)
		if n := len(p.idle[key]); n > 0 {
			c := p.idle[key][n-1]
			p.idle[key][n-1] = nil
			p.idle[key] = p.idle[key][:n-1]
			return c
		}
	}
	p.add()
	return nil
}

// add counts a connection that is about to be made. The caller holds p.mu.
func (p *pool) add() {
	p.opened++
	p.maxOpen = max(p.maxOpen, p.opened)
}

// count counts a connection that is about to be made for streams.
func (p *pool) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add()
}

// expire closes the connections of a host that were idle for too long.
func (p *pool) expire(key string) {
	if p.idleFor <= 0 {
		return
	}
	now, n, idle := clock.Now(), 0, p.idle[key]
	for n < len(idle) && now-idle[n].idleSince > p.idleFor {
		idle[n].close()
		p.opened--
		n++
	}
	if n > 0 {
		p.idle[key] = append(idle[:0], idle[n:]...)
	}
}

// put stores a connection for the next request.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.close()
		p.opened--
		return
	}
	c.idleSince = clock.Now()
	p.idle[c.key] = append(p.idle[c.key], c)
}

// release uncounts a connection that was closed or could not be made.
func (p *pool) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened--
}

// session removes and returns the idle connection of a session; nil = none.
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

// keepForSession stores the connection of a session until its next turn.
func (p *pool) keepForSession(id string, c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.sessions[id] != nil {
		c.close()
		p.opened--
		return
	}
	c.idleSince = clock.Now()
	p.sessions[id] = c
}

// drop closes the idle connection of a session.
func (p *pool) drop(id string) {
	p.mu.Lock()
	c := p.sessions[id]
	delete(p.sessions, id)
	p.mu.Unlock()
	if c != nil {
		c.close()
		p.release()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, list := range p.idle {
		for _, c := range list {
			c.close()
			p.opened--
		}
	}
	clear(p.idle)
	for id, c := range p.sessions {
		delete(p.sessions, id)
		c.close()
		p.opened--
	}
}

func (p *pool) open() (now, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened, p.maxOpen
}

// until returns a context that ends at an instant; 0 = the context unchanged.
func until(ctx context.Context, at int64) (context.Context, context.CancelFunc) {
	if at == 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, wallTime(at))
}

// wallTime converts an instant to a time.Time whose monotonic reading is exact.
func wallTime(at int64) time.Time {
	now := time.Now()
	return now.Add(time.Duration(at - clock.Now()))
}
