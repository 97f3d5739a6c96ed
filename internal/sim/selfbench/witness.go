package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"aiperf/internal/sim/mockserver"
	"aiperf/internal/wire/capture"
)

// witnessOptions describe the answers of a witness.
type witnessOptions struct {
	TTFT, ITL time.Duration
	Tokens    int
	Lump      int // events in one write
	Size      int // minimum size of an event, bytes
	Truth     string
}

// startWitness starts a child that streams over HTTP/1.1 and HTTP/2, plain and over TLS, and records the instants around its writes. It writes each
// event directly to the socket or to TLS, without a buffer or a goroutine in between, so that an event left between the two instants. TCP may delay
// an event while earlier ones are not acknowledged. If packets can be captured (root), both instants become that of its arrival. Its log is complete
// once it has stopped.
func startWitness(o witnessOptions) (*childServer, error) {
	arg, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return startChildServer("witness", string(arg))
}

// witness is the state of the server.
type witness struct {
	witnessOptions
	capture *capture.Capture // nil = no capture
	began   int64            // start, Unix ns

	mu    sync.Mutex
	log   []*mockserver.Truth
	conns []*countedConn
}

// countedConn is a connection that counts the bytes written to it.
type countedConn struct {
	net.Conn
	flow    *capture.Flow
	written uint64 // used by one goroutine at a time
	points  []place
}

// place is the offset in a connection at which a write ended.
type place struct {
	end   uint64
	truth *mockserver.Truth
	write int // index of the write in the truth
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written += uint64(n)
	return n, err
}

// countedListener counts the bytes written to its connections.
type countedListener struct {
	net.Listener
	w *witness
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	one := &countedConn{Conn: c}
	if k := l.w.capture; k != nil {
		one.flow = k.Track(c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort(), l.w.began)
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.conns = append(l.w.conns, one)
	return one, nil
}

// arrivals replaces the instants around the writes by those of packets, where these are known.
func (w *witness) arrivals() {
	for _, c := range w.conns {
		slices.SortFunc(c.points, func(a, b place) int { return cmp.Compare(a.end, b.end) })
		var points []capture.Point
		for _, p := range c.points {
			points = append(points, capture.Point{End: p.end, Read: time.Now().UnixNano()})
		}
		out := make([]capture.Arrival, len(points))
		if c.flow != nil {
			c.flow.Arrivals(points, out)
		}
		for i, p := range c.points {
			if out[i].Known {
				one := &p.truth.Writes[p.write]
				one.Before, one.After = out[i].At, out[i].At
			}
		}
	}
}

func playWitness(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected options, got %q", args)
	}
	w := new(witness)
	if err := json.Unmarshal([]byte(args[0]), &w.witnessOptions); err != nil {
		return err
	}
	file, err := os.Create(w.Truth)
	if err != nil {
		return err
	}
	w.began = time.Now().UnixNano()
	w.capture, _ = capture.Open(capture.Options{}) // without a capture, the instants around the writes are used
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	config := &tls.Config{Certificates: certificate.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
	var addresses []string
	for _, secret := range []bool{false, true} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return err
		}
		scheme := "http://"
		if w.capture != nil {
			if err := w.capture.Watch(l.Addr().(*net.TCPAddr).AddrPort()); err != nil {
				return err
			}
		}
		l = countedListener{l, w}
		if secret {
			scheme, l = "https://", tls.NewListener(l, config)
		}
		addresses = append(addresses, scheme+l.Addr().String())
		go w.accept(l)
	}
	fmt.Println(strings.Join(addresses, " "))
	_, err = io.Copy(io.Discard, os.Stdin)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrivals()
	buffer := bufio.NewWriterSize(file, 1<<20)
	for lines := json.NewEncoder(buffer); len(w.log) > 0; w.log = w.log[1:] {
		err = errors.Join(err, lines.Encode(w.log[0]))
	}
	return errors.Join(err, buffer.Flush(), file.Close())
}

// under returns the counted connection below a TLS connection, or the connection itself.
func under(c net.Conn) *countedConn {
	if secret, ok := c.(*tls.Conn); ok {
		c = secret.NetConn()
	}
	return c.(*countedConn)
}

func (w *witness) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go w.serve(c)
	}
}

// serve answers the requests of one connection, in the protocol with which it begins.
func (w *witness) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	start, err := in.Peek(len("PRI "))
	if err != nil {
		return
	}
	if string(start) == "PRI " {
		w.serveHTTP2(c, in)
		return
	}
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if !w.answer(r.Header.Get("X-Request-Id"), &chunkedAnswer{c: c}) {
			return
		}
	}
}

// answerWriter writes one answer in some protocol.
type answerWriter interface {
	head() error
	// write writes content in one system call.
	write(content []byte, last bool) (sent, error)
}

// sent is one write: the instants around it, and its place in its connection.
type sent struct {
	before, after int64
	conn          *countedConn
	end           uint64
}

// answer streams one answer and logs it.
func (w *witness) answer(id string, to answerWriter) bool {
	t := &mockserver.Truth{RequestID: id, Stream: true, Status: 200, Arrival: time.Now().UnixNano(), Outcome: "ok"}
	next := time.Now().Add(w.TTFT)
	if to.head() != nil {
		return false
	}
	event := eventOf(w.Size)
	for done := 0; done < w.Tokens; {
		time.Sleep(time.Until(next))
		n := min(max(1, w.Lump), w.Tokens-done)
		content := bytes.Repeat(event, n)
		done += n
		last := done == w.Tokens
		if last {
			content = append(content, "data: [DONE]\n\n"...)
		}
		s, err := to.write(content, last)
		if err != nil {
			return false
		}
		w.mu.Lock()
		t.Writes = append(t.Writes, mockserver.Write{Due: next.UnixNano(), Before: s.before, After: s.after, Events: n, Tokens: n})
		s.conn.points = append(s.conn.points, place{s.end, t, len(t.Writes) - 1})
		w.mu.Unlock()
		next = next.Add(w.ITL)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, t)
	return true
}

// eventOf returns a chat completions event of at least the given size in bytes.
func eventOf(size int) []byte {
	const form = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" %s"}}]}` + "\n\n"
	return fmt.Appendf(nil, form, strings.Repeat("word", max(1, (size-len(form))/4)))
}

// chunkedAnswer writes an answer over HTTP/1.1.
type chunkedAnswer struct {
	c   net.Conn
	out []byte
}

func (a *chunkedAnswer) head() error {
	_, err := io.WriteString(a.c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	return err
}

func (a *chunkedAnswer) write(content []byte, last bool) (sent, error) {
	a.out = fmt.Appendf(a.out[:0], "%x\r\n%s\r\n", len(content), content)
	if last {
		a.out = append(a.out, "0\r\n\r\n"...)
	}
	return timed(a.c, a.out)
}

// timed writes and returns the instants around the call, Unix ns.
func timed(c net.Conn, b []byte) (s sent, err error) {
	s.conn, s.before = under(c), time.Now().UnixNano()
	_, err = c.Write(b)
	s.after, s.end = time.Now().UnixNano(), s.conn.written
	return s, err
}

// framedConn is an HTTP/2 connection. Each answer has its own goroutine, and the lock keeps its frames whole.
type framedConn struct {
	mu     sync.Mutex
	c      net.Conn
	queue  bytes.Buffer
	frames *http2.Framer
	block  bytes.Buffer
	enc    *hpack.Encoder
}

func (w *witness) serveHTTP2(c net.Conn, in *bufio.Reader) {
	if _, err := in.Discard(len(http2.ClientPreface)); err != nil {
		return
	}
	f := &framedConn{c: c}
	f.frames, f.enc = http2.NewFramer(&f.queue, in), hpack.NewEncoder(&f.block)
	f.frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	greet := func() error { return errors.Join(f.frames.WriteSettings(), f.frames.WriteWindowUpdate(0, 1<<30)) } // a window that never fills
	if _, err := f.flush(greet); err != nil {
		return
	}
	ids := map[uint32]string{}
	for {
		frame, err := f.frames.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_, err = f.flush(f.frames.WriteSettingsAck)
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_, err = f.flush(func() error { return f.frames.WritePing(true, frame.Data) })
			}
		case *http2.MetaHeadersFrame:
			for _, field := range frame.RegularFields() {
				if field.Name == "x-request-id" {
					ids[frame.StreamID] = field.Value
				}
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				id := frame.StreamID
				go w.answer(ids[id], &framedAnswer{f, id})
				delete(ids, id)
			}
		}
		if err != nil {
			return
		}
	}
}

// flush writes frames in one system call.
func (f *framedConn) flush(frames func() error) (sent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue.Reset()
	if err := frames(); err != nil {
		return sent{}, err
	}
	return timed(f.c, f.queue.Bytes())
}

// framedAnswer writes one stream of HTTP/2.
type framedAnswer struct {
	*framedConn
	id uint32
}

func (a *framedAnswer) head() error {
	_, err := a.flush(func() error {
		a.block.Reset()
		for _, field := range []hpack.HeaderField{{Name: ":status", Value: "200"}, {Name: "content-type", Value: "text/event-stream"}} {
			if err := a.enc.WriteField(field); err != nil {
				return err
			}
		}
		return a.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: a.id, BlockFragment: a.block.Bytes(), EndHeaders: true})
	})
	return err
}

func (a *framedAnswer) write(content []byte, last bool) (sent, error) {
	return a.flush(func() error {
		for len(content) > 0 {
			n := min(len(content), 16<<10)
			if err := a.frames.WriteData(a.id, last && n == len(content), content[:n]); err != nil {
				return err
			}
			content = content[n:]
		}
		return nil
	})
}
