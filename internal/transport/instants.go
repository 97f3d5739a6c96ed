package transport

import (
	"aiperf/internal/record"
	"aiperf/internal/sse"
)

// arrival says when the bytes of a read arrived. The stamp is that of the last byte: segments merge in the kernel's receive queue and
// keep the last one's. The others came between the read before and this one.
type arrival struct {
	at    int64        // of the last byte, never before the request was sent
	user  int64        // the read returned
	since int64        // nothing that the read brought was there at this instant
	clock record.Clock // of at
	full  bool         // the read filled its buffer: the last byte may have been merged with later ones
	fills int          // number of the read on its connection; the end of the stream counts as one
}

// earliest is by how many ns bytes that share the read with later ones may have arrived before its stamp. No byte of an answer comes
// before the request was sent.
func (c *conn) earliest() int64 { return max(0, c.at-max(c.since, c.began)) }

// left tells whether bytes may lie behind those of the last read that were handed out.
func (c *conn) left() bool { return c.full || len(c.cipher) > 0 }

// tail is the last message of a read, of which it is not known yet whether bytes came behind it.
type tail struct {
	place int // in the record's messages, from 1; 0 = none
	fills int // read that it came with
}

// stamped puts its instant on a message. It is an upper bound until settleTail finds that the message was the last thing in its read.
func (x *Exchange) stamped(m record.Message) record.Message {
	k := x.conn
	m.At, m.Clock, m.UncertainNs = k.at, k.clock, k.earliest()
	x.trace.SharedReads++
	return m
}

// spanOver notes that a span of the body completed n messages, and whether bytes followed the last of them.
func (x *Exchange) spanOver(n int, behind bool) {
	if n == 0 {
		return
	}
	if b := x.body; !behind && !x.conn.left() && (b.kind == chunkedBody || len(b.buf) == 0) {
		x.tail = tail{len(x.arena.messages), x.conn.fills}
		n--
	}
	if n > 0 {
		x.waited()
	}
}

// settleTail is called when more of the body was asked for: whether bytes came behind the tail is known now.
func (x *Exchange) settleTail() {
	t := x.tail
	if t.place == 0 {
		return
	}
	x.tail = tail{}
	if b := x.body; x.conn.fills != t.fills && b.clean || b.kind == fixedLength && b.over && len(b.buf) == 0 {
		x.certain(&x.arena.messages[t.place-1])
		return
	}
	x.waited()
}

func (x *Exchange) certain(m *record.Message) {
	m.UncertainNs = 0
	x.trace.SharedReads--
}

// waited notes how long a byte of the last read may have waited.
func (x *Exchange) waited() {
	k := x.conn
	k.delayMax = max(k.delayMax, k.user-k.at+k.earliest())
}

// Uncertainty sums up the messages of a record: of the first one, and of the worst gap between two events.
func Uncertainty(messages []record.Message) (first, gap int64) {
	for i := range messages {
		m := &messages[i]
		if i == 0 {
			first = m.UncertainNs
		}
		if len(messages) > 1 && !(i > 0 && sse.IsDone(m.Raw)) {
			gap = max(gap, m.UncertainNs)
		}
	}
	if len(messages) == 2 && sse.IsDone(messages[1].Raw) {
		gap = 0
	}
	return first, gap
}
