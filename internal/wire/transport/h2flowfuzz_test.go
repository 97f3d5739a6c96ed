package transport

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"aiperf/internal/measure/record"
)

// flowScript is a server that keeps to the rules of HTTP/2: it asks, moves windows and pads as the bytes of a script say, while it takes an
// upload. Its reader checks what the client sends.
type flowScript struct {
	*h2Wire
	mu      sync.Mutex
	initial int64 // largest initial window that was offered
	stream  int64 // bytes that were given to the stream's window
	conn    int64
	pings   int
	asked   int // SETTINGS
	acks    int // of them
	events  int // written behind the head
}

// play does what a script says: two bytes a step.
func (s *flowScript) play(script []byte) {
	for ; len(script) >= 2 && s.events < 1000; script = script[2:] {
		n := uint32(script[1])
		s.mu.Lock()
		switch script[0] % 6 {
		case 0:
			s.pings++
			s.WritePing(false, [8]byte{script[1]})
		case 1:
			s.asked++
			s.initial = max(s.initial, int64(n)<<8)
			s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: n << 8})
		case 2:
			s.conn += int64(n)<<6 + 1
			s.WriteWindowUpdate(0, n<<6+1)
		case 3:
			s.stream += int64(n)<<6 + 1
			s.WriteWindowUpdate(1, n<<6+1)
		case 4:
			s.events++
			s.WriteDataPadded(1, false, []byte("data: a\n\n"), make([]byte, n))
		case 5:
			s.WriteDataPadded(1, false, nil, make([]byte, n))
		}
		s.mu.Unlock()
		s.flush()
	}
	s.mu.Lock()
	s.initial, s.conn, s.asked = flowBody, s.conn+flowBody, s.asked+1
	s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: flowBody})
	s.WriteWindowUpdate(0, flowBody)
	s.WriteWindowUpdate(1, flowBody)
	s.stream += flowBody
	s.pings++
	s.WritePing(false, lastPing)
	s.mu.Unlock()
	s.flush()
}

const flowBody = 200_000 // bytes of the upload

var lastPing = [8]byte{1, 2, 3, 4, 5, 6, 7, 8}

// check reads what the client sends until the last PING is answered and the upload is whole.
func (s *flowScript) check(t *testing.T, body []byte) {
	got, pings := 0, 0
	for ended, asked := false, false; !ended || !asked; {
		f, err := s.ReadFrame()
		if err != nil {
			t.Errorf("the client ended the connection: %v; %d of %d PINGs and %d of %d SETTINGS answered", err, pings, s.pings, s.acks, s.asked)
			return
		}
		switch f := f.(type) {
		case *http2.PingFrame:
			pings++
			asked = f.Data == lastPing
		case *http2.SettingsFrame:
			if f.IsAck() {
				s.acks++
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			t.Errorf("the client refused: %v", f)
			return
		case *http2.DataFrame:
			b := f.Data()
			if got+len(b) > len(body) || !bytes.Equal(b, body[got:got+len(b)]) {
				t.Error("the upload differs from the body")
				return
			}
			got += len(b)
			s.mu.Lock()
			if int64(got) > s.initial+s.stream || int64(got) > h2FirstWindow+s.conn {
				t.Errorf("%d bytes came, the windows allow %d and %d", got, s.initial+s.stream, h2FirstWindow+s.conn)
			}
			s.mu.Unlock()
			ended = f.StreamEnded()
		}
	}
	if pings != s.pings || s.acks != s.asked {
		t.Errorf("%d of %d PINGs and %d of %d SETTINGS answered", pings, s.pings, s.acks, s.asked)
	}
}

// FuzzHTTP2Flow: with a server that keeps to the rules, an upload and its answer come whole, whatever the server asks and pads meanwhile.
func FuzzHTTP2Flow(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 1, 9, 2, 200, 3, 200, 4, 255, 0, 2, 5, 255, 1, 0, 3, 7})
	f.Add([]byte{1, 0, 2, 255, 3, 255, 1, 1, 3, 255, 1, 0, 4, 0, 4, 1, 5, 0})
	f.Add(bytes.Repeat([]byte{0, 1, 5, 255, 3, 1, 2, 1}, 200))
	body := make([]byte, flowBody)
	for i := range body {
		body[i] = byte(i * 7 / 5)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		s := &flowScript{h2Wire: new(h2Wire), initial: h2FirstWindow}
		over := make(chan struct{})
		go func() {
			defer close(over)
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			s.serve(t, c, script, body)
		}()
		o := DefaultOptions()
		o.Loop = !*poller
		o.HTTP2, o.Timeout, o.Socket, o.Reuse = true, time.Minute, path, Never
		c, err := NewClient(o)
		if err != nil {
			t.Fatal(err)
		}
		rec := do(c, &Request{Target: mustTarget(t, "http://h/"), Body: record.Plain(body)})
		c.Close()
		if <-over; rec.Error != nil || len(rec.Messages) != s.events {
			t.Errorf("%+v, %d of %d events", rec.Error, len(rec.Messages), s.events)
		}
		rec.Release()
	})
}

// serve takes one request on a connection.
func (s *flowScript) serve(t *testing.T, c net.Conn, script, body []byte) {
	r := bufio.NewReader(c)
	if _, err := io.ReadFull(r, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	s.out, s.enc = c, hpack.NewEncoder(&s.block)
	s.Framer = http2.NewFramer(&s.queue, r)
	s.asked++
	s.WriteSettings()
	s.flush()
	for id := uint32(0); id == 0; {
		f, err := s.ReadFrame()
		if err != nil {
			t.Error(err)
			return
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if f.IsAck() {
				s.acks++
			}
		case *http2.HeadersFrame:
			id = f.StreamID
		}
	}
	s.h2Wire.stream(1)
	s.flush()
	played := make(chan struct{})
	go func() { s.play(script); close(played) }()
	s.check(t, body)
	<-played
	s.WriteData(1, true, nil)
	s.flush()
	io.Copy(io.Discard, r)
}
