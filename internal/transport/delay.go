package transport

import (
	"sync"

	"aiperf/internal/stats"
)

// delayLog collects how long received bytes waited between the kernel and the client, over all reads of a client.
type delayLog struct {
	mu sync.Mutex
	h  stats.Histogram // ns
}

// pendingDelays is how many delays a connection keeps before it takes the lock.
const pendingDelays = 16

// delayNotes are the delays of one connection on their way to the log.
type delayNotes struct {
	log  *delayLog
	off  bool // the request is none of those that count
	n    int
	last [pendingDelays]int64
}

func (d *delayNotes) add(ns int64) {
	if d.log == nil || d.off {
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

// ReadDelays is the distribution, in ns, of the time from the kernel's receive stamp to the return of the read, over the finished
// requests of the client, those of warm-ups excepted.
func (c *Client) ReadDelays() *stats.Histogram {
	c.delays.mu.Lock()
	defer c.delays.mu.Unlock()
	h := c.delays.h
	return &h
}
