package run

import (
	"sync"

	"aiperf/internal/clock"
	"aiperf/internal/record"
	"aiperf/internal/transport"
)

// longSend is how long, in ns, a request may take to be written before it is asked whether the client was kept from it.
const longSend = int64(500_000)

// unseer tells how long bytes may have lain unread before an instant because the client did not run (clock.Heartbeat).
type unseer interface {
	Unseen(from, at int64) int64
}

// certainty narrows down how wrong the instants of finished records may be. The transport knows that a message which shares its read with
// later bytes arrived after the read before; it cannot have arrived longer ago than the client was blind. That is known a moment later, so
// records with such messages wait for it.
type certainty struct {
	next func(*record.Record)

	mu     sync.Mutex
	blind  unseer
	list   []waiting
	upTo   int64
	wake   chan struct{}
	closed chan struct{}
}

// waiting is a record that everything about it is known of once what the heartbeat says is final up to an instant.
type waiting struct {
	rec *record.Record
	at  int64
}

func newCertainty(next func(*record.Record)) *certainty {
	c := &certainty{next: next, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	go c.run()
	return c
}

// watch names who knows how long the client was blind.
func (c *certainty) watch(blind unseer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blind = blind
}

// put hands a record on, at once or a moment later. It does not wait.
func (c *certainty) put(rec *record.Record) {
	if !doubtful(rec) {
		c.next(rec)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, waiting{rec, clock.Now()})
}

// known is told by the heartbeat that what it says is final up to an instant. It must not take long.
func (c *certainty) known(upTo int64) {
	c.mu.Lock()
	c.upTo = upTo
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *certainty) run() {
	defer close(c.closed)
	for range c.wake {
		c.release(false)
	}
	c.release(true)
}

// release hands on what waits no longer; all of it at the end.
func (c *certainty) release(all bool) {
	c.mu.Lock()
	n := 0
	for n < len(c.list) && (all || c.list[n].at <= c.upTo) {
		n++
	}
	ready := c.list[:n:n]
	c.list = c.list[n:]
	blind := c.blind
	c.mu.Unlock()
	for _, w := range ready {
		narrow(w.rec, blind)
		c.next(w.rec)
	}
}

// close hands on what still waits. Neither put nor known may be called any more.
func (c *certainty) close() {
	close(c.wake)
	<-c.closed
}

// doubtful tells whether an instant of the record may be earlier than it says.
func doubtful(rec *record.Record) bool {
	if t := rec.Trace; t != nil && t.SendEnd-t.SendStart > longSend {
		return true
	}
	for i := range rec.Messages {
		if m := &rec.Messages[i]; m.UncertainNs > 0 || m.Clock == record.UserClock {
			return true
		}
	}
	return false
}

// narrow bounds the uncertainty of a record's instants by how long the client was blind before them.
func narrow(rec *record.Record, blind unseer) {
	t := rec.Trace
	if t == nil || blind == nil {
		return
	}
	worst, packets := int64(0), false
	for i := range rec.Messages {
		m := &rec.Messages[i]
		from := m.At - m.UncertainNs
		if m.Clock == record.UserClock { // not even its own arrival is known, only that it came after the one before
			from = min(from, before(rec, i))
		}
		if from < m.At {
			m.UncertainNs = blind.Unseen(from, m.At)
		}
		worst = max(worst, m.UncertainNs)
		packets = packets || m.Clock == record.PacketClock
	}
	t.FirstUncertainNs, t.GapUncertainNs = transport.Uncertainty(rec.Messages)
	if !packets { // else what bytes waited before their read's last one is known
		t.ReadDelayMax = min(t.ReadDelayMax, t.LastByteDelayMax+worst)
	}
	if t.SendStart != 0 && t.SendEnd-t.SendStart > longSend {
		t.SendUncertainNs = blind.Unseen(t.SendStart, t.SendEnd)
	}
}

// before is the latest instant before message i: of another message, or of the request.
func before(rec *record.Record, i int) int64 {
	for ; i > 0; i-- {
		if at := rec.Messages[i-1].At; at < rec.Messages[i].At {
			return at
		}
	}
	return rec.Start
}
