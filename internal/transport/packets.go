package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"aiperf/internal/capture"
	"aiperf/internal/record"
)

// CaptureMode says whether instants are taken from a capture of packets (Linux, CAP_NET_RAW).
type CaptureMode string

// The modes. The zero value is CaptureOff.
const (
	CaptureOff  CaptureMode = "off"
	CaptureOn   CaptureMode = "on"   // a client cannot be made without it
	CaptureAuto CaptureMode = "auto" // where it can be had
)

// CaptureStats tell what a capture was good for.
type CaptureStats struct {
	Active   bool
	Missing  string // why there is none although one was asked for
	Messages int64  // of finished requests
	Known    int64  // of them, those whose instant is a packet's
	Lost     uint64 // packets that the ring had no room for
}

// openCapture starts the capture that the options ask for.
func (c *Client) openCapture() error {
	if c.opt.Capture == "" || c.opt.Capture == CaptureOff {
		return nil
	}
	var err error
	if c.capture, err = capture.Open(capture.Options{}); err == nil {
		return nil
	}
	c.capture = nil
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("%w: %s", err, privilege)
	}
	if c.opt.Capture == CaptureOn {
		return fmt.Errorf("packet capture: %w", err)
	}
	c.captureMissing = err.Error()
	return nil
}

// privilege says how to get a capture.
const privilege = "CAP_NET_RAW is missing; run as root, or give it to the program once: sudo setcap cap_net_raw+ep aiperf"

// CaptureStats reads the counters of the capture.
func (c *Client) CaptureStats() CaptureStats {
	s := CaptureStats{
		Active: c.capture != nil, Missing: c.captureMissing,
		Messages: c.count.messages.Load(), Known: c.count.packets.Load(),
	}
	if c.capture != nil {
		s.Lost = c.capture.Stats().Lost
	}
	return s
}

// watch makes the capture look at a server before it is dialled; real is the instant of the dial.
func (c *Client) watch(server netip.AddrPort) {
	if c.capture == nil {
		return
	}
	if err := c.capture.Watch(server); err != nil {
		c.warn("capture", "packets of "+server.String()+" are not captured: "+err.Error())
	}
}

// track claims the packets of a new connection.
func (c *Client) track(tcp net.Conn, dialled int64) *capture.Flow {
	if c.capture == nil {
		return nil
	}
	local, ok1 := tcp.LocalAddr().(*net.TCPAddr)
	remote, ok2 := tcp.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return nil
	}
	return c.capture.Track(local.AddrPort(), remote.AddrPort(), c.tie.Real(dialled))
}

// closeCapture ends the capture.
func (c *Client) closeCapture() {
	if c.capture != nil {
		if err := c.capture.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			c.warn("capture", "the packet capture did not close: "+err.Error())
		}
	}
}

// note is a place in the stream whose arrival is asked of the capture.
type note struct {
	end  uint64
	at   int64 // its instant as the read tells it: the latest
	user int64 // the client had read it
	what int32 // message, from 0, or one of the following
}

const (
	noteHead  = -1 - iota // of the final response
	noteFirst             // first byte of the body
	noteLast              // last byte of the body
	noteEnd               // end of the answer
)

// askEvery is how many notes are kept at most before the capture is asked, so that neither they nor the packets pile up.
const askEvery = 256

// packets are the notes of an exchange on their way to instants.
type packets struct {
	notes    []note
	points   []capture.Point
	arrivals []capture.Arrival
	floor    int64 // no later note arrived before
	known    int   // messages with a packet's instant
	asked    int   // messages asked for
	delayMax int64 // ns from packet to read
	lastEnd  uint64
	lastUser int64
}

// position is how many bytes of the stream had to arrive for what was just taken from it; behind bytes of the current span were not
// needed. Under TLS a record is needed whole, under a content coding what the decoder has read.
func (x *Exchange) position(behind int) uint64 {
	k := x.in
	if k.sealed || x.body == nil {
		return k.end - uint64(behind)*b2u(!k.sealed)
	}
	end := k.end - uint64(len(x.body.buf))
	if x.wire != nil {
		return end - uint64(len(x.wire.span))
	}
	return end - uint64(behind)
}

func b2u(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// note keeps a place to be asked for.
func (x *Exchange) note(what int32, end uint64) {
	k := x.in
	if k.marks != nil {
		x.markNote(note{end, k.at, k.user, what})
		return
	}
	if k.flow == nil {
		return
	}
	p := &x.packets
	p.notes = append(p.notes, note{end, k.at, k.user, what})
	if len(p.notes) >= askEvery {
		x.askPackets()
	}
}

// askPackets puts the packets' instants in place of those of the reads, where the capture knows them.
func (x *Exchange) askPackets() {
	p, k := &x.packets, x.in
	n := len(p.notes)
	if n == 0 {
		return
	}
	p.points, p.arrivals = p.points[:0], append(p.arrivals[:0], make([]capture.Arrival, n)...)
	for _, q := range p.notes {
		p.points = append(p.points, capture.Point{End: q.end, Read: k.tie.Real(q.at)})
	}
	k.flow.Arrivals(p.points, p.arrivals)
	steady := k.tie.Step() == 0
	p.floor = max(p.floor, k.began)
	for i, q := range p.notes {
		a := p.arrivals[i]
		at := q.at
		if a.Known && steady {
			at = min(max(k.tie.Instant(a.At), p.floor), q.at)
			p.floor = at
		}
		x.settleNote(q, at, a.Known && steady)
	}
	p.notes = p.notes[:0]
}

// markNote settles a note by the packets that are known to have brought the read.
func (x *Exchange) markNote(q note) {
	p, k := &x.packets, x.in
	p.floor = max(p.floor, k.began)
	at, known := q.at, false
	for _, m := range k.marks {
		if m.End >= q.end {
			known = m.Known && k.tie.Step() == 0
			if known {
				at = min(max(k.tie.Instant(m.At), p.floor), q.at)
				p.floor = at
			}
			break
		}
	}
	x.settleNote(q, at, known)
}

// settleNote gives what a note stands for its instant.
func (x *Exchange) settleNote(q note, at int64, known bool) {
	t := &x.trace
	switch q.what {
	case noteHead:
		t.HeadersReceived = at
		if x.rec.Ack != 0 {
			x.rec.Ack = at
		}
	case noteFirst:
		t.FirstChunk = at
	case noteLast:
		t.LastChunk = at
	case noteEnd:
		x.ended = at
	default:
		x.settleMessage(&x.arena.messages[q.what], q, at, known)
	}
}

func (x *Exchange) settleMessage(m *record.Message, q note, at int64, known bool) {
	p, k := &x.packets, x.in
	p.asked++
	delay := q.user - at
	if known {
		p.known++
		if m.UncertainNs > 0 {
			x.trace.SharedReads--
		}
		m.At, m.Clock, m.UncertainNs = at, record.PacketClock, 0
		p.delayMax = max(p.delayMax, delay)
	}
	k.delays.add(delay)
}

// packetsOver asks for the rest when the answer is over.
func (x *Exchange) packetsOver() {
	k, p := x.in, &x.packets
	messages := 0
	if x.arena != nil {
		messages = len(x.arena.messages)
	}
	if (k.flow != nil || k.marks != nil) && x.head != nil {
		if p.lastEnd != 0 && k.flow != nil {
			p.notes = append(p.notes, note{p.lastEnd, x.trace.LastChunk, p.lastUser, noteLast})
		}
		if x.err == nil && k.end >= p.lastEnd {
			x.note(noteEnd, x.endPosition())
		}
		x.askPackets()
		if p.known == messages && messages > 0 {
			k.delayMax = p.delayMax // exact; the reads give bounds only
		}
	}
	if x.client.capture != nil {
		x.client.count.messages.Add(int64(messages))
		x.client.count.packets.Add(int64(p.known))
	}
}

// endPosition is the place at which the answer was over.
func (x *Exchange) endPosition() uint64 {
	if x.body != nil && x.body.kind == untilClose && x.body.over && !x.in.sealed {
		return x.in.end + 1 // the end of the stream counts as a byte
	}
	if x.body == nil || x.in.sealed {
		return x.in.end
	}
	return x.in.end - uint64(len(x.body.buf))
}
