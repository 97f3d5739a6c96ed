package transport

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// h2Wire is the server's side of an HTTP/2 connection, frame by frame.
type h2Wire struct {
	*http2.Framer
	out   io.Writer // where a run of frames is written at once
	queue bytes.Buffer
	enc   *hpack.Encoder
	block bytes.Buffer
}

// rawH2 is a server that gets every connection once the client's settings have arrived; frames that the client sends must be read with next.
func rawH2(t testing.TB, secret bool, serve func(w *h2Wire)) *Target {
	var cert tls.Certificate
	if secret {
		cert = certificate(t)
	}
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		conn := net.Conn(c)
		if secret {
			conn = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}})
			r = bufio.NewReader(conn)
		}
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(r, preface); err != nil || string(preface) != http2.ClientPreface {
			return
		}
		w := &h2Wire{out: conn}
		w.enc = hpack.NewEncoder(&w.block)
		w.Framer = http2.NewFramer(&w.queue, r)
		w.WriteSettings()
		w.flush()
		serve(w)
		r.ReadByte()
	})
	if secret {
		return mustTarget(t, "https://"+target.Address())
	}
	return target
}

func (w *h2Wire) flush() {
	w.out.Write(w.queue.Bytes())
	w.queue.Reset()
}

// request waits for the end of a request and gives the id of its stream; 0 = the client is gone.
func (w *h2Wire) request() uint32 {
	for {
		f, err := w.ReadFrame()
		if err != nil {
			return 0
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				return f.StreamID
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				return f.StreamID
			}
		}
	}
}

// head writes the headers of an answer.
func (w *h2Wire) head(id uint32, end bool, fields ...string) {
	w.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		w.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	w.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: w.block.Bytes(), EndHeaders: true, EndStream: end})
}

func (w *h2Wire) stream(id uint32) {
	w.head(id, false, ":status", "200", "content-type", "text/event-stream")
}

// The instants of streams that share reads are bounds that hold, and those of a capture are exact: the server's own log tells.
func TestHTTP2Instants(t *testing.T) {
	for _, capture := range []CaptureMode{CaptureOff, CaptureAuto} {
		t.Run("capture "+string(capture), func(t *testing.T) { bothWays(t, func(t *testing.T, secret bool) { h2Instants(t, secret, capture) }) })
	}
}

func h2Instants(t *testing.T, secret bool, capture CaptureMode) {
	const streams, events = 3, 8
	var wrote [events]atomic.Int64 // instant before the write of the i-th event of every stream
	target := rawH2(t, secret, func(w *h2Wire) {
		var ids []uint32
		for range streams {
			ids = append(ids, w.request())
		}
		for _, id := range ids {
			w.stream(id)
		}
		w.flush()
		for i := range events {
			time.Sleep(2 * time.Millisecond)
			wrote[i].Store(clock.Now())
			for k, id := range ids { // every stream's event in one write; the last but one frame holds two messages
				text := fmt.Sprintf("data: %d %d\n\n", k, i)
				if k == streams-2 {
					text = "data: twice\n\n" + text
				}
				w.WriteData(id, i == events-1, []byte(text))
			}
			w.flush()
		}
	})
	c := h2Client(t, func(o *Options) { o.Capture = capture })
	active := c.CaptureStats().Active
	recs := make([]*record.Record, streams)
	var all sync.WaitGroup
	for i := range recs {
		all.Go(func() { recs[i] = do(c, &Request{Target: target, Body: record.Plain([]byte("{}"))}) })
	}
	all.Wait()
	shared := 0
	for _, rec := range recs {
		if rec.Error != nil || len(rec.Messages) != events && len(rec.Messages) != 2*events {
			t.Fatalf("%+v, %d messages", rec.Error, len(rec.Messages))
		}
		per := len(rec.Messages) / events
		for i, m := range rec.Messages {
			before, next := wrote[i/per].Load(), clock.Now()
			if i/per+1 < events {
				next = wrote[i/per+1].Load()
			}
			if m.At < before || m.At-m.UncertainNs > next {
				t.Errorf("message %d: %+v, written after %d and before %d", i, m, before, next)
			}
			if active && (m.Clock != record.PacketClock || m.UncertainNs != 0 || m.At > next) {
				t.Errorf("message %d: %v, uncertain by %d, %d behind the next write", i, m.Clock, m.UncertainNs, m.At-next)
			}
		}
		shared += rec.Trace.SharedReads
		if rec.End < rec.Messages[len(rec.Messages)-1].At || rec.Trace.LastChunk < rec.Messages[0].At || rec.Ack > rec.Messages[0].At {
			t.Errorf("ack %d, end %d, %+v", rec.Ack, rec.End, rec.Trace)
		}
	}
	if s := c.CaptureStats(); active && (s.Known != s.Messages || s.Messages != 4*events) {
		t.Errorf("%+v", s)
	}
	if shared == 0 && !secret && !active {
		t.Error("no message shares its read with another stream's")
	}
}
