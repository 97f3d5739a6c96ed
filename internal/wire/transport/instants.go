package transport

import (
	"slices"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/capture"
)

// arrival is the time at which the bytes of a read arrived. The stamp belongs to the last byte: segments merge in the kernel's receive queue and only
// the last stamp survives. The other bytes arrived after the socket was known to be empty (emptinessLog, or the connection's last read).
type arrival struct {
	at          int64        // instant of the last byte, never before the request was sent
	user        int64        // instant at which the read returned
	since       int64        // lower bound: all bytes of this read arrived after it
	clock       record.Clock // clock of at
	full        bool         // the read filled its buffer: the last byte may have been merged with later ones
	endOfStream bool         // the read found the end of the stream
	fills       int          // number of reads on the connection so far, counting EOF as a read
}

// readState describes the bytes that an exchange has received: when the last of them arrived, and how long bytes waited to be read.
type readState struct {
	arrival
	began    int64  // instant at which the request was sent
	end      uint64 // offset in the connection behind the bytes that were needed for the returned ones
	sealed   bool   // the connection carries TLS records
	realTime *clock.RealTimeOffset
	flow     *capture.Flow  // nil = no capture for the connection, or marks is used instead
	marks    []capture.Mark // packets that brought the read, if several streams share it

	reads              int // reads with a kernel stamp in this request
	unstamped          int
	delaySum, delayMax int64 // ns from arrival to the read's return: sum for last bytes; longest possible for any byte
	lastMax            int64 // the longest delay of a last byte
	delays             delayNotes
	tooLate            int64      // instant since which bytes may have arrived that came too late to count; 0 = none came
	pace               *restPacer // of the loop that watches the connection; nil = none, or it never rests
}

// link delivers the bytes of an answer: a connection, or a stream of one.
type link interface {
	// fill returns the next bytes, valid until the next call of fill or release; io.EOF = there are no more. The read state tells when they arrived.
	fill() ([]byte, error)
	// mayHaveMore reports whether more bytes may follow, in the same read, those that fill returned last.
	mayHaveMore() bool
	// finished reports whether the server has ended the stream of bytes, as far as the system knows.
	finished() bool
	// release returns the read buffers to the pool.
	release()
	// readBy sets the instant at which fill gives up with a timeout; 0 = it waits.
	readBy(at int64)
	// interrupt makes pending and later calls of fill end with a timeout.
	interrupt()
	// reading starts a job that calls fill. Where it has to wait, reading may return, and whoever brings the bytes continues the job.
	reading(j readJob)
	// acknowledge makes the system acknowledge the data of the answer at once, unless the first read brings all of it.
	acknowledge()
}

// begin resets the state for a request that is sent at an instant.
func (in *readState) begin(at int64) {
	in.at, in.began, in.tooLate = at, at, 0
	in.reads, in.unstamped, in.delaySum, in.delayMax, in.lastMax = 0, 0, 0, 0, 0
}

// count adds the delay between the arrival of a read's last byte and the read's return.
func (in *readState) count() {
	if in.clock == record.UserClock {
		in.unstamped++
		return
	}
	delay := in.user - in.at
	in.reads++
	in.delaySum += delay
	in.delayMax, in.lastMax = max(in.delayMax, delay), max(in.lastMax, delay)
	if in.flow == nil && in.marks == nil { // with known packets, settleMessage counts the delay per message
		in.delays.add(in.pace.withoutRest(in.at, in.user))
	}
}

// deliveryTime is the longest usual time, in ns, between the stamp of a segment and the moment it can be read. The kernel stamps a segment when it
// enters the machine and then passes it through its layers. Measured over loopback on a crowded machine: 99.9 % take less.
const deliveryTime = 50_000

// earliest returns how many ns before the read's stamp its earlier bytes may have arrived. No byte of an answer arrives before the request was sent.
func (in *readState) earliest() int64 { return max(0, in.at-max(in.since-deliveryTime, in.began)) }

// inTime reports whether the bytes of a read count that was made after the deadline. Without a stamp of the kernel they do if they may have arrived before it.
func (a *arrival) inTime(deadline int64) bool {
	if a.clock == record.KernelClock {
		return a.at <= deadline
	}
	return a.since < deadline
}

// lateness returns by how many ns the wait of a request that was given up at an instant may have been shorter: bytes had arrived that came too late to count.
func (in *readState) lateness(end int64) int64 {
	if in.tooLate == 0 {
		return 0
	}
	return max(0, end-max(in.tooLate-deliveryTime, in.began))
}

// acknowledge implements link. A server that writes its answer in pieces may wait for the acknowledgement of the first one. If the first read brings the
// whole answer, the next request carries the acknowledgement, which saves a segment.
func (c *conn) acknowledge() { c.ackPending.Store(true) }

// acknowledgeRead is called before each read. It acknowledges what earlier reads of the answer brought.
func (c *conn) acknowledgeRead() {
	if c.reads+c.unstamped > 0 && c.ackPending.Swap(false) {
		c.quickAck()
	}
}

// mayHaveMore implements link.
func (c *conn) mayHaveMore() bool { return c.full || len(c.cipher) > 0 }

// finished implements link.
func (c *conn) finished() bool {
	ended := true
	_ = c.raw.Control(func(fd uintptr) { ended = halfClosed(fd) }) // fails on a closed connection, which has ended
	return ended
}

// lastMessage is the last message of a read while it is unknown whether more bytes followed it.
type lastMessage struct {
	place     int   // index in the record's messages, from 1; 0 = none
	fills     int   // number of the read that brought it
	user      int64 // instant at which that read returned
	uncertain int64 // uncertainty in ns if more bytes followed it
}

// tailOf returns the message at an index of the record's messages, from 1, as the last message of the current read.
func (x *Exchange) tailOf(place int) lastMessage {
	return lastMessage{place, x.in.fills, x.in.user, x.in.earliest()}
}

// stamped sets the instant of a message. It is an upper bound until settleTail finds that the message was the last thing in its read.
func (x *Exchange) stamped(m record.Message) record.Message {
	k := x.in
	m.At, m.Clock, m.UncertainNs = k.at, k.clock, k.earliest()
	x.share(&m, true)
	return m
}

// share notes whether a message shares its read with later bytes.
func (x *Exchange) share(m *record.Message, shared bool) {
	switch {
	case m.Shared == shared:
		return
	case shared:
		x.trace.SharedReads++
	default:
		x.trace.SharedReads--
	}
	m.Shared = shared
}

// spanOver records that a span of the body completed n messages, and whether bytes followed the last of them.
func (x *Exchange) spanOver(n int, behind bool) {
	if n == 0 {
		return
	}
	if last := x.tailOf(len(x.arena.messages)); x.body.kind == framedBody && !behind && !x.link.mayHaveMore() {
		x.markExact(last) // nothing lies between the content of a frame and the next read
		n--
	} else if b := x.body; !behind && !x.link.mayHaveMore() && (b.kind == chunkedBody || len(b.buf) == 0) {
		x.tail = last
		n--
	}
	if n > 0 {
		x.updateLastDelay()
	}
}

// settleTail is called when more of the body was requested. It is then known whether bytes followed the last message.
func (x *Exchange) settleTail() {
	t := x.tail
	if t.place == 0 {
		return
	}
	x.tail = lastMessage{}
	if b := x.body; x.in.fills != t.fills && b.clean || b.kind == fixedLength && b.ended && len(b.buf) == 0 {
		x.markExact(t)
		return
	}
	x.updateLastDelay()
}

// markExact records that a message was the last thing in its read, unless a packet has already determined its instant. The instant is exact if the
// kernel took it.
func (x *Exchange) markExact(t lastMessage) {
	m := &x.arena.messages[t.place-1]
	if m.Clock == record.PacketClock {
		return
	}
	x.share(m, false)
	if m.Clock == record.KernelClock {
		m.UncertainNs, x.last = 0, t
	}
}

// refineLast is called when the answer has ended. The end of the stream is a separate segment. Its stamp replaces that of the last bytes if they
// were not read yet. So a message that nothing else follows is exact only if it was read before the stream ended.
func (x *Exchange) refineLast(state tcpState) {
	t, k := x.last, x.in
	if t.place == 0 || t.place > len(x.arena.messages) {
		return
	}
	if !state.ended && (state.known || !x.link.finished()) {
		return
	}
	if k.fills != t.fills && (!k.endOfStream || k.since >= t.user) {
		return // later bytes arrived, or the socket was empty once after the read
	}
	if m := &x.arena.messages[t.place-1]; m.Clock == record.KernelClock {
		m.UncertainNs = t.uncertain
		x.share(m, true)
		k.delayMax = max(k.delayMax, t.user-m.At+t.uncertain)
	}
}

// updateLastDelay updates the longest possible delay of a byte of the last read.
func (x *Exchange) updateLastDelay() {
	k := x.in
	k.delayMax = max(k.delayMax, k.user-k.at+k.earliest())
}

// Uncertainty returns the uncertainty, in ns, of the first message of a record and of the worst gap between two events. marks are the indexes of the
// messages that only mark the end of the stream; they do not count as events.
func Uncertainty(messages []record.Message, marks []int) (first, gap int64) {
	mark := func(i int) bool { return slices.Contains(marks, i) }
	for i := range messages {
		m := &messages[i]
		if i == 0 {
			first = m.UncertainNs
		}
		if len(messages) > 1 && !(i > 0 && mark(i)) {
			gap = max(gap, m.UncertainNs)
		}
	}
	if len(messages) == 2 && mark(1) {
		gap = 0
	}
	return first, gap
}
