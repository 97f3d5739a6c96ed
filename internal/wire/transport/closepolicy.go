package transport

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
)

// Some servers close a connection right after an answer without announcing it. If the client sends its next request within microseconds, the request
// crosses the close and is reset. It must then count as failed, because nobody knows whether the server read it. So a young connection rests for
// reusePause before it is used again, and so does every connection of a server that was seen to close early. The pause is in no latency, because the
// start is stamped after it. A server that closed every connection after its first answer gets a new connection for each request: under load its
// close comes later than any pause.
const (
	reusePause   = time.Millisecond // from the end of an answer to the next use of its connection
	youngUses    = 8                // number of answers after which a connection is trusted
	quickClosing = int64(time.Second)
	seenClosing  = 3 // number of connections closed after their first answer from which on this counts as the server's habit
)

// closePolicy remembers the servers that close connections right after an answer without announcing it.
type closePolicy struct {
	closesEarly sync.Map // pool key -> true
	afterFirst  sync.Map // pool key -> *atomic.Int32: connections closed early after one answer; negative = some lived longer
}

// closed records that a connection was found dead, or was closed instead of an answer. It counts only if the last answer was less than quickClosing
// ago.
func (m *closePolicy) closed(k *conn) {
	if clock.Now()-k.idleSince >= quickClosing {
		return
	}
	m.closesEarly.Store(k.key, true)
	if n := m.counter(k.key); k.uses <= 1 && n.Load() >= 0 {
		n.Add(1)
	}
}

// answered records that a connection has carried another answer.
func (m *closePolicy) answered(k *conn) {
	if k.uses == 2 {
		m.counter(k.key).Store(math.MinInt32)
	}
}

func (m *closePolicy) counter(key string) *atomic.Int32 {
	n, _ := m.afterFirst.LoadOrStore(key, new(atomic.Int32))
	return n.(*atomic.Int32)
}

// once reports whether the server seems to close every connection after its first answer.
func (m *closePolicy) once(k *conn) bool {
	n, seen := m.afterFirst.Load(k.key)
	return seen && n.(*atomic.Int32).Load() >= seenClosing
}

// pause returns how long an idle connection must still rest before it may be used; 0 or less = it may be used now.
func (m *closePolicy) pause(k *conn) time.Duration {
	if _, closesEarly := m.closesEarly.Load(k.key); !closesEarly && k.uses >= youngUses {
		return 0
	}
	return reusePause - time.Duration(clock.Now()-k.idleSince)
}

// awaitReuse waits until a connection may be used again or the request's context ends.
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
