package transport

import (
	"sync"
	"time"

	"aiperf/internal/clock"
)

// Some servers close a connection right after an answer that did not say so. A client that sends its next request within microseconds
// meets the close half-way: the request is reset and must count as failed, since nobody can know whether it was read. So a young
// connection is given a moment before it is used again, and every connection of a server that was seen to do this. What is waited for is
// in no latency: the start is stamped later.
const (
	reusePause   = time.Millisecond // from the end of an answer to the next use of its connection
	youngUses    = 8                // answers after which a connection is trusted
	quickClosing = int64(time.Second)
)

// closePolicy remembers the servers that close connections right after an answer, unannounced.
type closePolicy struct{ closesEarly sync.Map } // pool key -> true

// closed notes how long a connection had been idle when it was found dead.
func (m *closePolicy) closed(k *conn) {
	if clock.Now()-k.idleSince < quickClosing {
		m.closesEarly.Store(k.key, true)
	}
}

// pause is how long an idle connection must be left alone before it may be used.
func (m *closePolicy) pause(k *conn) time.Duration {
	if _, closesEarly := m.closesEarly.Load(k.key); !closesEarly && k.uses >= youngUses {
		return 0
	}
	return reusePause - time.Duration(clock.Now()-k.idleSince)
}

// awaitReuse waits until a connection may be used again, or the request's context ends.
func (x *Exchange) awaitReuse(k *conn) {
	d := x.client.closePolicy.pause(k)
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.ctx.Done():
	}
}
