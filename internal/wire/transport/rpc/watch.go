package rpc

import (
	"bytes"
	"sync"

	"golang.org/x/net/http2"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// frameWatch parses the frames of one connection in both directions. It finds out when a request was written and when its answer arrived, because the
// gRPC protocol reports neither. A connection carries one request at a time.
type frameWatch struct {
	mu      sync.Mutex
	out, in frames
	timeline
}

// timeline holds the instants of the running request; 0 = not known yet.
type timeline struct {
	stream    uint32 // id of its stream; 0 = its headers are not written yet
	began     int64  // instant just before the write of its first byte
	last      int64  // instant just before the write of its last byte
	sent      int64  // instant just after that write, or the answer's arrival if that came first
	written   chan struct{}
	writes    int
	headers   int64 // instant of the answer's headers
	ended     int64 // instant of the answer's end
	reset     bool  // the server reset the stream
	data      int   // bytes of the answer's messages, including their prefixes
	arrivals  []arrival
	reads     int // reads with a kernel stamp
	unstamped int
	delaySum  int64
	delayMax  int64 // the longest possible delay
	lastMax   int64
}

// arrival is a read that brought bytes of messages.
type arrival struct {
	end int // offset behind the bytes, within all of the answer
	transport.Arrival
	endsRead bool // nothing followed the bytes in the read
}

func newWatch() *frameWatch { return &frameWatch{out: frames{skip: len(http2.ClientPreface)}} }

// begin resets the timeline for the next request.
func (w *frameWatch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timeline = timeline{written: make(chan struct{}), arrivals: w.arrivals[:0]}
}

// now returns a copy of the timeline.
func (w *frameWatch) now() timeline {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.timeline
}

// Writes implements transport.RPCWatcher.
func (w *frameWatch) Writes(b []byte, before int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ours := false
	w.out.cut(b, func(f http2.FrameHeader, head bool, payload, _ []byte, last bool) {
		if head && f.Type == http2.FrameHeaders && f.StreamID > w.stream && w.written != nil {
			w.stream, w.began = f.StreamID, before
		}
		if f.StreamID != w.stream || w.stream == 0 {
			return
		}
		ours = true
		if last && ends(f) {
			w.last = before
		}
	})
	if ours {
		w.writes++
	}
}

// Wrote implements transport.RPCWatcher.
func (w *frameWatch) Wrote(after int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.markWritten(after)
}

// markWritten records that the whole request was written at an instant, if its last byte was passed to the system. The caller holds w.mu.
func (w *frameWatch) markWritten(at int64) {
	if w.last != 0 && w.sent == 0 {
		w.sent = max(at, w.last)
		close(w.written)
	}
}

// ends reports whether a frame is the last one of its direction of a stream.
func ends(f http2.FrameHeader) bool {
	return (f.Type == http2.FrameHeaders || f.Type == http2.FrameData) && f.Flags&http2.FlagDataEndStream != 0
}

// Arrived implements transport.RPCWatcher.
func (w *frameWatch) Arrived(b []byte, a transport.Arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, ours, behind := w.data, false, false
	w.in.cut(b, func(f http2.FrameHeader, head bool, payload, data []byte, last bool) {
		if f.StreamID != w.stream || w.stream == 0 {
			behind = true
			return
		}
		ours = true
		switch {
		case f.Type == http2.FrameData:
			w.data += len(data)
			behind = behind && len(data) == 0 || f.Flags&http2.FlagDataPadded != 0 // padding follows the content
		case last && f.Type == http2.FrameHeaders && w.headers == 0:
			w.headers, behind = a.At, true
		case f.Type == http2.FrameRSTStream:
			w.reset, behind = true, true
		default:
			behind = true
		}
		if last && (ends(f) || f.Type == http2.FrameRSTStream) {
			w.ended = a.At
		}
	})
	if !ours {
		return
	}
	w.markWritten(a.At) // on a busy machine the reader may run before the writer has returned
	if w.data > before {
		w.arrivals = append(w.arrivals, arrival{w.data, a, !behind && !a.Full && w.in.boundary()})
	}
	if a.Clock == record.UserClock {
		w.unstamped++
		return
	}
	delay := a.User - a.At
	w.reads++
	w.delaySum += delay
	w.delayMax, w.lastMax = max(w.delayMax, delay), max(w.lastMax, delay)
}

// at finds the read that brought the last byte of a message. end is the offset of the message's end; from is the index at which the search starts.
func (w *frameWatch) at(end, from int) (a arrival, place int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := from; i < len(w.arrivals); i++ {
		if w.arrivals[i].end >= end {
			return w.arrivals[i], i, true
		}
	}
	return a, from, false
}

// frames parses one direction of an HTTP/2 connection (RFC 9113, section 4.1). Its input may be cut at any byte.
type frames struct {
	skip   int // bytes before the first frame that are still to skip
	head   [9]byte
	have   int // bytes of the frame header that were seen
	f      http2.FrameHeader
	left   int  // remaining bytes of the payload
	padded bool // the next byte is the length of the padding
	pad    int
}

// boundary reports whether the bytes so far end with a frame.
func (c *frames) boundary() bool { return c.have == 0 && c.left == 0 }

// cut calls visit for every frame that b touches. head reports whether its header is in b. payload holds the bytes of its payload in b, and data
// those of them that are not padding. last reports whether the frame ends in b.
func (c *frames) cut(b []byte, visit func(f http2.FrameHeader, head bool, payload, data []byte, last bool)) {
	n := min(c.skip, len(b))
	c.skip -= n
	for b = b[n:]; len(b) > 0; {
		head := false
		if c.left == 0 {
			n := copy(c.head[c.have:], b)
			b = b[n:]
			if c.have += n; c.have < len(c.head) {
				return
			}
			f, err := http2.ReadFrameHeader(bytes.NewReader(c.head[:]))
			if err != nil {
				return // nine bytes are always a valid header
			}
			c.f, c.have, c.left, head = f, 0, int(f.Length), true
			c.padded, c.pad = f.Type == http2.FrameData && f.Flags&http2.FlagDataPadded != 0, 0
		}
		payload := b[:min(c.left, len(b))]
		b = b[len(payload):]
		c.left -= len(payload)
		visit(c.f, head, payload, c.content(payload), c.left == 0)
	}
}

// content removes the padding from a piece of a payload.
func (c *frames) content(payload []byte) []byte {
	if c.padded && len(payload) > 0 {
		c.pad, c.padded = int(payload[0]), false
		payload = payload[1:]
	}
	return payload[:max(0, len(payload)-max(0, c.pad-c.left))]
}
