package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/capture"
)

// CaptureMode says whether instants come from a packet capture (Linux, CAP_NET_RAW).
type CaptureMode string

// The modes. The zero value is CaptureOff.
const (
	CaptureOff  CaptureMode = "off"
	CaptureOn   CaptureMode = "on"   // required: NewClient fails without it
	CaptureAuto CaptureMode = "auto" // used if available
)

// CaptureStats describe what a capture contributed.
type CaptureStats struct {
	Active   bool
	Missing  string // why the requested capture is missing
	Messages int64  // messages of finished requests
	Known    int64  // messages whose instant came from a packet
	Lost     uint64 // packets for which the ring had no room
}

// openCapture starts the capture that the options request.
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

// privilege explains how to get the permission for a capture.
const privilege = "CAP_NET_RAW is missing; run as root, or give it to the program once: sudo setcap cap_net_raw+ep aiperf"

// CaptureStats returns the counters of the capture.
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

// watch makes the capture include a server before it is dialled.
func (c *Client) watch(server netip.AddrPort) {
	if c.capture == nil {
		return
	}
	if err := c.capture.Watch(server); err != nil {
		c.warn("capture", "no packet capture for "+server.String()+": "+err.Error())
	}
}

// track claims the packets of a new connection, which was dialled at an instant.
func (c *Client) track(tcp net.Conn, dialled int64) *capture.Flow {
	if c.capture == nil {
		return nil
	}
	local, ok1 := tcp.LocalAddr().(*net.TCPAddr)
	remote, ok2 := tcp.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return nil
	}
	return c.capture.Track(local.AddrPort(), remote.AddrPort(), c.realTime.Real(dialled))
}

// closeCapture ends the capture.
func (c *Client) closeCapture() {
	if c.capture != nil {
		if err := c.capture.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			c.warn("capture", "the packet capture could not be closed: "+err.Error())
		}
	}
}

// stampQuery is an offset in the stream whose arrival the capture is asked for.
type stampQuery struct {
	end  uint64
	at   int64 // instant according to the read, which is the latest possible
	user int64 // instant at which the client had read it
	what int32 // index of the message, or one of the constants below
}

const (
	stampHead      = -1 - iota // final response head
	stampFirstByte             // first byte of the body
	stampLastByte              // last byte of the body
	stampEnd                   // end of the answer
)

// askEvery is how many queries are collected before the capture is asked, so that neither queries nor packets pile up.
const askEvery = 256

// packets holds the queries of an exchange that the capture has not answered yet.
type packets struct {
	notes    []stampQuery
	points   []capture.Point
	arrivals []capture.Arrival
	floor    int64 // no later query has an earlier instant
	known    int   // messages with an instant from a packet
	asked    int   // messages that were queried
	delayMax int64 // longest time from packet to read, ns
	lastEnd  uint64
	lastUser int64
}

// position returns how many bytes of the stream had to arrive for what was just taken from it. The last behind bytes of the current span were not
// needed. TLS needs whole records; a content coding needs what its decoder has read.
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

// note adds a query for an offset of the stream.
func (x *Exchange) note(what int32, end uint64) {
	k := x.in
	if k.marks != nil {
		x.markNote(stampQuery{end, k.at, k.user, what})
		return
	}
	if k.flow == nil {
		return
	}
	p := &x.packets
	p.notes = append(p.notes, stampQuery{end, k.at, k.user, what})
	if len(p.notes) >= askEvery {
		x.askPackets()
	}
}

// askPackets replaces the instants of reads by those of packets, where the capture knows them.
func (x *Exchange) askPackets() {
	p, k := &x.packets, x.in
	n := len(p.notes)
	if n == 0 {
		return
	}
	p.points, p.arrivals = p.points[:0], append(p.arrivals[:0], make([]capture.Arrival, n)...)
	for _, q := range p.notes {
		p.points = append(p.points, capture.Point{End: q.end, Read: k.realTime.Real(q.at)})
	}
	k.flow.Arrivals(p.points, p.arrivals)
	steady := k.realTime.Step() == 0
	p.floor = max(p.floor, k.began)
	for i, q := range p.notes {
		a := p.arrivals[i]
		at := q.at
		if a.Known && steady {
			at = min(max(k.realTime.Instant(a.At), p.floor), q.at)
			p.floor = at
		}
		x.settleNote(q, at, a.Known && steady)
	}
	p.notes = p.notes[:0]
}

// markNote answers a query from the packets that are known to have brought the read.
func (x *Exchange) markNote(q stampQuery) {
	p, k := &x.packets, x.in
	p.floor = max(p.floor, k.began)
	at, known := q.at, false
	for _, m := range k.marks {
		if m.End >= q.end {
			known = m.Known && k.realTime.Step() == 0
			if known {
				at = min(max(k.realTime.Instant(m.At), p.floor), q.at)
				p.floor = at
			}
			break
		}
	}
	x.settleNote(q, at, known)
}

// settleNote stores the instant that answers a query.
func (x *Exchange) settleNote(q stampQuery, at int64, known bool) {
	t := &x.trace
	switch q.what {
	case stampHead:
		t.HeadersReceived = at
		if x.rec.Ack != 0 {
			x.rec.Ack = at
		}
	case stampFirstByte:
		t.FirstChunk = at
	case stampLastByte:
		t.LastChunk = at
	case stampEnd:
		x.ended = at
	default:
		x.settleMessage(&x.arena.messages[q.what], q, at, known)
	}
}

func (x *Exchange) settleMessage(m *record.Message, q stampQuery, at int64, known bool) {
	p, k := &x.packets, x.in
	p.asked++
	delay := q.user - at
	if known {
		p.known++
		x.share(m, false)
		m.At, m.Clock, m.UncertainNs = at, record.PacketClock, 0
		p.delayMax = max(p.delayMax, delay)
	}
	k.delays.add(k.pace.withoutRest(at, q.user))
}

// packetsOver sends the remaining queries when the answer has ended.
func (x *Exchange) packetsOver() {
	k, p := x.in, &x.packets
	messages := 0
	if x.arena != nil {
		messages = len(x.arena.messages)
	}
	if (k.flow != nil || k.marks != nil) && x.head != nil {
		if p.lastEnd != 0 && k.flow != nil {
			p.notes = append(p.notes, stampQuery{p.lastEnd, x.trace.LastChunk, p.lastUser, stampLastByte})
		}
		if x.err == nil && k.end >= p.lastEnd {
			x.note(stampEnd, x.endPosition())
		}
		x.askPackets()
		if p.known == messages && messages > 0 {
			k.delayMax = p.delayMax // exact, whereas the reads give only bounds
		}
	}
	if x.client.capture != nil {
		x.client.count.messages.Add(int64(messages))
		x.client.count.packets.Add(int64(p.known))
	}
}

// endPosition returns the offset at which the answer ended.
func (x *Exchange) endPosition() uint64 {
	if x.body != nil && x.body.kind == untilClose && x.body.ended && !x.in.sealed {
		return x.in.end + 1 // the end of the stream counts as a byte
	}
	if x.body == nil || x.in.sealed {
		return x.in.end
	}
	return x.in.end - uint64(len(x.body.buf))
}
