package transport

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// resolver looks names up and caches the answers for ttl. Concurrent requests for the same name share one lookup.
type resolver struct {
	ttl   time.Duration // 0 = no cache
	mu    sync.Mutex
	names map[string]*lookup
}

// lookup is the answer for one name. Its lock is a channel, so that a waiter can give up.
type lookup struct {
	busy  chan struct{}
	addrs []netip.Addr
	until int64
}

// find returns the addresses of a host in the resolver's order and records the instants in the trace.
func (r *resolver) find(ctx context.Context, t *Target, version string, tr *record.Trace) ([]netip.Addr, error) {
	if t.literal {
		return []netip.Addr{t.addr}, nil
	}
	e := r.entry(t.Host + "/" + version)
	asked := clock.Now()
	select {
	case e.busy <- struct{}{}:
		defer func() { <-e.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	now := clock.Now()
	if e.until > now {
		tr.DNSCacheHit = now
		return e.addrs, nil
	}
	tr.DNSStart = asked
	network := "ip"
	if version == "4" || version == "6" {
		network += version
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, network, t.Host)
	tr.DNSEnd = clock.Now()
	if err != nil {
		return nil, err
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	e.addrs, e.until = addrs, tr.DNSEnd+int64(r.ttl)
	return addrs, nil
}

func (r *resolver) entry(key string) *lookup {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil {
		r.names = map[string]*lookup{}
	}
	e := r.names[key]
	if e == nil || r.ttl == 0 {
		e = &lookup{busy: make(chan struct{}, 1)}
		r.names[key] = e
	}
	return e
}
