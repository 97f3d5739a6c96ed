package transport

import (
	"sync"

	"aiperf/internal/measure/stats"
)

// delayLog collects how long received bytes waited between the kernel and the client, for all reads of a client.
type delayLog struct {
	mu sync.Mutex
	h  stats.Histogram // ns
}

// pendingDelays is how many delays a connection collects before it takes the lock.
const pendingDelays = 16

// delayNotes are the delays of one connection that are not in the log yet.
type delayNotes struct {
	log      *delayLog
	disabled bool // do not count: the request is part of the warm-up
	n        int
	last     [pendingDelays]int64
}

func (d *delayNotes) add(ns int64) {
	if d.log == nil || d.disabled {
		return
	}
	d.last[d.n] = ns
	if d.n++; d.n == pendingDelays {
		d.flush()
	}
}

func (d *delayNotes) flush() {
	if d.n == 0 {
		return
	}
	d.log.mu.Lock()
	for _, ns := range d.last[:d.n] {
		d.log.h.Add(ns)
	}
	d.log.mu.Unlock()
	d.n = 0
}

// ReadDelays returns the distribution, in ns, of the time from the kernel's receive stamp to the return of the read. It covers the finished requests
// of the client except warm-up requests.
func (c *Client) ReadDelays() *stats.Histogram {
	c.delays.mu.Lock()
	defer c.delays.mu.Unlock()
	h := c.delays.h
	return &h
}
