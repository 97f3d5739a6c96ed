package transport

import (
	"time"

	"aiperf/internal/capture"
	"aiperf/internal/clock"
	"aiperf/internal/record"
	"aiperf/internal/sse"
)

// arrival says when the bytes of a read arrived. The stamp is that of the last byte: segments merge in the kernel's receive queue and
// keep the last one's. The others came after the socket was known to be empty (emptinessLog, or the connection's own last read).
type arrival struct {
	at    int64        // of the last byte, never before the request was sent
	user  int64        // the read returned
	since int64        // nothing that the read brought was there at this instant
	clock record.Clock // of at
	full  bool         // the read filled its buffer: the last byte may have been merged with later ones
	over  bool         // the read found the end of the stream
	fills int          // number of the read on its connection; the end of the stream counts as one
}

// intake is what is known of the bytes that an exchange was given: when the last of them came, and what reading them was like.
type intake struct {
	arrival
	began  int64  // the request was sent
	end    uint64 // bytes of the connection that had to arrive for what was given
	sealed bool   // they are TLS records
	tie    *clock.Tie
	flow   *capture.Flow  // nil = the packets of the connection are not captured, or marks tells of them
	marks  []capture.Mark // packets that brought the read, where several streams share it

	reads              int // with a kernel stamp, in this request
	unstamped          int
	delaySum, delayMax int64 // ns from arrival to return of the read: of the last byte, and the longest possible
	lastMax            int64 // the longest of the last bytes
	delays             delayNotes
}

// link is what the bytes of an answer come through: a connection, or a stream of one.
type link interface {
	// fill gives the next bytes, valid until the next call of fill or release; io.EOF = there are no more. They came as the intake tells.
	fill() ([]byte, error)
	// left tells whether bytes may lie behind those that fill gave last, in the read that brought them.
	left() bool
	// finished tells whether the server has ended the stream of bytes, as far as the system knows.
	finished() bool
	// release gives the buffers of reading back.
	release()
	// SetReadDeadline sets when fill gives up with a timeout.
	SetReadDeadline(t time.Time) error
	// interrupt makes pending and later calls of fill end with a timeout.
	interrupt()
	// quickAck makes the system acknowledge what comes in at once.
	quickAck()
}

// begin prepares for a request that is sent at an instant.
func (in *intake) begin(at int64) {
	in.at, in.began = at, at
	in.reads, in.unstamped, in.delaySum, in.delayMax, in.lastMax = 0, 0, 0, 0, 0
}

// count takes in how long the last byte of a read waited for it.
func (in *intake) count() {
	if in.clock == record.UserClock {
		in.unstamped++
		return
	}
	delay := in.user - in.at
	in.reads++
	in.delaySum += delay
	in.delayMax, in.lastMax = max(in.delayMax, delay), max(in.lastMax, delay)
	if in.flow == nil && in.marks == nil { // else by message, when the packets are known
		in.delays.add(delay)
	}
}

// deliveryTime is how long before it can be read a segment has its stamp, ns: the kernel stamps it when it enters the machine and then takes it
// through its layers. Measured over loopback on a crowded machine: 99.9 % take less.
const deliveryTime = 50_000

// earliest is by how many ns bytes that share the read with later ones may have arrived before its stamp. No byte of an answer comes
// before the request was sent.
func (in *intake) earliest() int64 { return max(0, in.at-max(in.since-deliveryTime, in.began)) }

// left tells whether bytes may lie behind those of the last read that were handed out.
func (c *conn) left() bool { return c.full || len(c.cipher) > 0 }

// finished implements link.
func (c *conn) finished() bool {
	ended := true
	_ = c.raw.Control(func(fd uintptr) { ended = halfClosed(fd) }) // fails on a closed connection
	return ended
}

// tail is the last message of a read, of which it is not known yet whether bytes came behind it.
type tail struct {
	place     int   // in the record's messages, from 1; 0 = none
	fills     int   // read that it came with
	user      int64 // that read returned
	uncertain int64 // ns, if bytes came behind it
}

// tailOf is the message at a place in the record's messages, from 1, as a tail of the last read.
func (x *Exchange) tailOf(place int) tail { return tail{place, x.in.fills, x.in.user, x.in.earliest()} }

// stamped puts its instant on a message. It is an upper bound until settleTail finds that the message was the last thing in its read.
func (x *Exchange) stamped(m record.Message) record.Message {
	k := x.in
	m.At, m.Clock, m.UncertainNs = k.at, k.clock, k.earliest()
	x.trace.SharedReads++
	return m
}

// spanOver notes that a span of the body completed n messages, and whether bytes followed the last of them.
func (x *Exchange) spanOver(n int, behind bool) {
	if n == 0 {
		return
	}
	if last := x.tailOf(len(x.arena.messages)); x.body.kind == framedBody && !behind && !x.link.left() {
		x.certain(last) // nothing stands between the content of a frame and the next read
		n--
	} else if b := x.body; !behind && !x.link.left() && (b.kind == chunkedBody || len(b.buf) == 0) {
		x.tail = last
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
	if b := x.body; x.in.fills != t.fills && b.clean || b.kind == fixedLength && b.over && len(b.buf) == 0 {
		x.certain(t)
		return
	}
	x.waited()
}

// certain notes that a message was the last thing in its read, unless its packet has told its instant already. The instant is exact then, if
// the kernel took it.
func (x *Exchange) certain(t tail) {
	m := &x.arena.messages[t.place-1]
	if m.Clock == record.PacketClock {
		return
	}
	x.trace.SharedReads--
	if m.Clock == record.KernelClock {
		m.UncertainNs, x.last = 0, t
	}
}

// doubtLast is called when the answer is over. The end of the stream has a segment of its own, whose stamp replaces that of the last bytes if
// they were not read yet. So a message that is followed by nothing else is exact only if the stream did not end before it was read.
func (x *Exchange) doubtLast() {
	t, k := x.last, x.in
	if t.place == 0 || t.place > len(x.arena.messages) || !x.link.finished() {
		return
	}
	if k.fills != t.fills && (!k.over || k.since >= t.user) {
		return // later bytes came, or the socket was quiet once after the read
	}
	if m := &x.arena.messages[t.place-1]; m.Clock == record.KernelClock {
		m.UncertainNs = t.uncertain
		x.trace.SharedReads++
		k.delayMax = max(k.delayMax, t.user-m.At+t.uncertain)
	}
}

// waited notes how long a byte of the last read may have waited.
func (x *Exchange) waited() {
	k := x.in
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
