package rpc

import (
	"bytes"
	"sync"

	"golang.org/x/net/http2"

	"aiperf/internal/record"
	"aiperf/internal/transport"
)

// watch follows the frames of one connection in both directions, to tell when what belongs to a request was written and when what belongs
// to its answer arrived: the gRPC library says neither. A connection carries one request at a time.
type watch struct {
	mu      sync.Mutex
	out, in frames
	timeline
}

// timeline is what is known of the running request. Instants are 0 until they are known.
type timeline struct {
	stream    uint32 // id of its stream; 0 = its headers were not written yet
	began     int64  // just before the write of its first byte
	last      int64  // just before the write of its last byte
	sent      int64  // just after that write, or the answer's arrival if that came first
	written   chan struct{}
	writes    int
	headers   int64 // headers of the answer
	ended     int64 // end of the answer
	reset     bool  // the server broke the stream off
	data      int   // bytes of the answer's messages, with their prefixes
	arrivals  []arrival
	reads     int // with a kernel stamp
	unstamped int
	delaySum  int64
	delayMax  int64 // the longest possible
	lastMax   int64
}

// arrival is a read that brought bytes of messages.
type arrival struct {
	end int // of the bytes, among all of the answer
	transport.Arrival
	sole bool // nothing followed them in the read
}

func newWatch() *watch { return &watch{out: frames{skip: len(http2.ClientPreface)}} }

// begin prepares for the next request.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timeline = timeline{written: make(chan struct{}), arrivals: w.arrivals[:0]}
}

// now is a copy of what is known.
func (w *watch) now() timeline {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.timeline
}

// Writes implements transport.LineWatch.
func (w *watch) Writes(b []byte, before int64) {
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

// Wrote implements transport.LineWatch.
func (w *watch) Wrote(after int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken(after)
}

// taken notes that the request was written whole at an instant, if its last byte was given to the system. w.mu is held.
func (w *watch) taken(at int64) {
	if w.last != 0 && w.sent == 0 {
		w.sent = max(at, w.last)
		close(w.written)
	}
}

// ends tells whether a frame is the last one of its side of a stream.
func ends(f http2.FrameHeader) bool {
	return (f.Type == http2.FrameHeaders || f.Type == http2.FrameData) && f.Flags&http2.FlagDataEndStream != 0
}

// Arrived implements transport.LineWatch.
func (w *watch) Arrived(b []byte, a transport.Arrival) {
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
			behind = behind && len(data) == 0 || f.Flags&http2.FlagDataPadded != 0 // padding stands behind the content
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
	w.taken(a.At) // a busy machine may run the reader before the writer has returned
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

// at finds the read that brought the last byte of a message, by the number of bytes up to its end. from is where the search begins.
func (w *watch) at(end, from int) (a arrival, place int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := from; i < len(w.arrivals); i++ {
		if w.arrivals[i].end >= end {
			return w.arrivals[i], i, true
		}
	}
	return a, from, false
}

// frames cuts one direction of an HTTP/2 connection (RFC 9113, section 4.1) at whatever bytes a read or write has.
type frames struct {
	skip   int // bytes before the first frame
	head   [9]byte
	have   int // bytes of head
	f      http2.FrameHeader
	left   int  // bytes of the payload to come
	padded bool // the next byte tells how much of the payload is padding
	pad    int
}

// boundary tells whether the bytes so far end with a frame.
func (c *frames) boundary() bool { return c.have == 0 && c.left == 0 }

// cut calls visit for every frame that b touches: head tells whether its header is in b, payload are the bytes of its payload that are in b,
// data those of them that are no padding, last whether it ends in b.
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
				return // nine bytes are always a header
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

// content takes the padding off a piece of a payload.
func (c *frames) content(payload []byte) []byte {
	if c.padded && len(payload) > 0 {
		c.pad, c.padded = int(payload[0]), false
		payload = payload[1:]
	}
	return payload[:max(0, len(payload)-max(0, c.pad-c.left))]
}
