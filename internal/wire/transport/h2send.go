package transport

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// headerCoder encodes the headers of requests without the dynamic table of HPACK (RFC 7541, section 2.3.2). Header blocks then do not depend on each
// other, so that a request can be encoded ahead of time, whichever stream it will use.
type headerCoder struct {
	mu  sync.Mutex
	buf bytes.Buffer
	enc *hpack.Encoder
}

func (c *headerCoder) block(to []byte, write func(enc *hpack.Encoder)) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.enc == nil {
		c.enc = hpack.NewEncoder(&c.buf)
		c.enc.SetMaxDynamicTableSize(0)
		_ = c.enc.WriteField(hpack.HeaderField{Name: ":method", Value: "POST"}) // also emits the notice of the table's size, which servers need only once
	}
	c.buf.Reset()
	write(c.enc)
	return append(to, c.buf.Bytes()...)
}

// buildFrames encodes the request as frames without a stream id: its headers, and all of its body if that is small.
func (x *Exchange) buildFrames() {
	method := x.method()
	var block []byte
	size := x.req.Body.Len()
	block = x.client.coder.block(block, func(enc *hpack.Encoder) {
		field := func(name, value string) { _ = enc.WriteField(hpack.HeaderField{Name: name, Value: value}) } // writing to a buffer cannot fail
		t := x.req.Target
		scheme := "http"
		if t.TLS {
			scheme = "https"
		}
		field(":method", method)
		field(":scheme", scheme)
		field(":authority", t.host)
		field(":path", t.Path)
		for h := range x.headerFields() {
			if name := strings.ToLower(h.Name); !ofConnection(name) {
				field(name, h.Value)
			}
		}
		if size > 0 || hasBody(method) {
			field("content-length", strconv.Itoa(size))
		}
	})
	x.buffer = requestPool.Get().(*[]byte)
	out := &frameBuffer{(*x.buffer)[:0]}
	f := http2.NewFramer(out, nil)
	first := block[:min(len(block), h2MaxFrame)]
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: first, EndStream: size == 0, EndHeaders: len(first) == len(block)})
	for rest := block[len(first):]; len(rest) > 0; {
		n := min(len(rest), h2MaxFrame)
		_ = f.WriteContinuation(1, n == len(rest), rest[:n])
		rest = rest[n:]
	}
	x.headBytes = len(out.b)
	x.ranges = x.req.Body.Ranges()
	if size <= shareFrom {
		left := size
		for _, r := range x.ranges {
			for len(r) > 0 {
				n := min(len(r), h2MaxFrame)
				left -= n
				_ = f.WriteData(1, left == 0, r[:n])
				r = r[n:]
			}
		}
	}
	x.out = out.b
	*x.buffer = x.out
}

// ofConnection reports whether a header belongs to the connection; HTTP/2 forbids these (RFC 9113, section 8.2.2).
func ofConnection(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "upgrade", "te":
		return true
	}
	return false
}

// pushStream opens the stream at an instant and writes what the socket and the windows accept at once.
func (x *Exchange) pushStream(now int64) {
	s := x.stream
	x.trace.SendStart = now
	s.begin(now)
	s.delays.disabled = x.req.WarmUp
	whole, err := s.conn.h2writer.begin(s, x.out, x.headBytes, x.req.Body.Len())
	if err != nil {
		x.sendErr = err
		return
	}
	x.trace.ChunksSent++
	if whole {
		x.ranges = nil
		if s.conn.sentWhole(s) {
			x.allSent()
		}
	}
}

// sendStreamRest sends what pushStream could not send at once.
func (x *Exchange) sendStreamRest(end int64) {
	defer close(x.sendOver)
	s := x.stream
	if end != 0 {
		defer s.conn.sendBy(s, wallTime(end)).Stop()
	}
	x.restSent(s.conn.sendBody(s, x.ranges), func() { s.readBy(past) })
}

// readStreamHead waits for the head of an answer on a stream.
func (x *Exchange) readStreamHead() error {
	h, err := x.stream.answerHead()
	if err != nil {
		return err
	}
	x.gotHead(h)
	x.note(stampHead, x.position(0))
	return nil
}
