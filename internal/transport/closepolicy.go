package transport

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/clock"
)

// Some servers close a connection right after an answer that did not say so. A client that sends its next request within microseconds
// meets the close half-way: the request is reset and must count as failed, since nobody can know whether it was read. So a young
// connection is given a moment before it is used again, and every connection of a server that was seen to do this. What is waited for is
// in no latency: the start is stamped later. A server that was seen to close every connection after its first answer gets a connection for each
// request: under load its close comes later than any pause.
const (
	reusePause   = time.Millisecond // from the end of an answer to the next use of its connection
	youngUses    = 8                // answers after which a connection is trusted
	quickClosing = int64(time.Second)
	seenClosing  = 3 // connections that were closed after their first answer, from which on it is taken for a habit
)

// closePolicy remembers the servers that close connections right after an answer, unannounced.
type closePolicy struct {
	closesEarly sync.Map // pool key -> true
	afterFirst  sync.Map // pool key -> *atomic.Int32: connections closed early after one answer; negative = some lived longer
}

// closed notes how long ago a connection brought its last answer when it was found dead, or closed instead of the next answer.
func (m *closePolicy) closed(k *conn) {
	if clock.Now()-k.idleSince >= quickClosing {
		return
	}
	m.closesEarly.Store(k.key, true)
	if n := m.counter(k.key); k.uses <= 1 && n.Load() >= 0 {
		n.Add(1)
	}
}

// answered notes that a connection has carried another answer.
func (m *closePolicy) answered(k *conn) {
	if k.uses == 2 {
		m.counter(k.key).Store(math.MinInt32)
	}
}

func (m *closePolicy) counter(key string) *atomic.Int32 {
	n, _ := m.afterFirst.LoadOrStore(key, new(atomic.Int32))
	return n.(*atomic.Int32)
}

// once tells whether a server is taken to close every connection after its first answer.
func (m *closePolicy) once(k *conn) bool {
	n, seen := m.afterFirst.Load(k.key)
	return seen && n.(*atomic.Int32).Load() >= seenClosing
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
