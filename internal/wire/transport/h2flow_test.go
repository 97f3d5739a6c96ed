package transport

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"

	"aiperf/internal/measure/record"
)

const uploadSize = 8 << 20

// wideOpen lets the client send all of its uploads at once.
func (w *h2Wire) wideOpen() {
	w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 64 << 20})
	w.WriteWindowUpdate(0, 256<<20)
	w.flush()
}

// stuffed waits until the uploads of a client wait for the socket as long as they may.
func stuffed(t *testing.T, c *Client, target *Target) {
	waitFor(t, func() bool {
		p := &c.streams
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, k := range p.host(target.key).conns {
			k.wmu.Lock()
			full := k.backlog() > h2Backlog
			k.wmu.Unlock()
			if full {
				return true
			}
		}
		return false
	})
}

// TestHTTP2UploadsWithPings: a server that reads slowly may ask meanwhile. Its PINGs and SETTINGS are answered and the uploads come whole.
func TestHTTP2UploadsWithPings(t *testing.T) {
	bothWays(t, func(t *testing.T, secret bool) {
		const asked = 200
		full := make(chan struct{})
		target := rawH2(t, secret, func(w *h2Wire) {
			w.wideOpen()
			<-full
			for range asked {
				w.WritePing(false, [8]byte{1})
				w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
				w.flush()
			}
			got, pings, settings := map[uint32]int{}, 0, 0
			for ended := 0; ended < 2 || pings < asked || settings < asked+2; {
				f, err := w.ReadFrame()
				if err != nil {
					t.Errorf("the client ended the connection: %v", err)
					return
				}
				switch f := f.(type) {
				case *http2.PingFrame:
					pings++
				case *http2.SettingsFrame:
					if f.IsAck() {
						settings++
					}
				case *http2.DataFrame:
					got[f.StreamID] += len(f.Data())
					if f.StreamEnded() {
						ended++
					}
				}
			}
			for id, n := range got {
				w.stream(id)
				w.WriteData(id, true, fmt.Appendf(nil, "data: %d\n\n", n))
			}
			w.flush()
		})
		c := h2Client(t, nil)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				rec := do(c, &Request{Target: target, Body: record.Plain(make([]byte, uploadSize))})
				if rec.Error != nil || len(rec.Messages) != 1 || string(rec.Messages[0].Raw) != fmt.Sprintf("data: %d", uploadSize) {
					t.Errorf("%+v, %v", rec.Error, rec.Messages)
				}
			})
		}
		stuffed(t, c, target)
		close(full)
		all.Wait()
	})
}

// TestHTTP2WindowGivenBackDuringUpload: bytes read from an answer are returned to its window, although the upload waits for the socket.
func TestHTTP2WindowGivenBackDuringUpload(t *testing.T) {
	full, taken := make(chan struct{}), make(chan struct{})
	const answer = 6 << 20
	target := rawH2(t, false, func(w *h2Wire) {
		w.wideOpen()
		<-full
		w.stream(1)
		piece := []byte("data: " + strings.Repeat("x", h2MaxFrame-8) + "\n\n")
		for range answer / len(piece) {
			w.WriteData(1, false, piece)
			w.flush()
		}
		<-taken
		for back, over := 0, false; !over; {
			f, err := w.ReadFrame()
			if err != nil {
				t.Errorf("the client ended the connection: %v", err)
				return
			}
			switch f := f.(type) {
			case *http2.WindowUpdateFrame:
				back += int(f.Increment) * int(f.StreamID)
			case *http2.DataFrame:
				if over = f.StreamEnded(); over && back < h2StreamWindow/2 {
					t.Errorf("%d bytes were given back to the stream's window", back)
				}
			}
		}
		w.WriteData(1, true, nil)
		w.flush()
	})
	c := h2Client(t, nil)
	done := make(chan *record.Record)
	go func() {
		rec := new(record.Record)
		c.Do(t.Context(), &Request{Target: target, Body: record.Plain(make([]byte, 64<<20-1))}, rec, func(messages []record.Message) *record.Error {
			if len(messages) == answer/h2MaxFrame {
				close(taken)
			}
			return nil
		})
		done <- rec
	}()
	stuffed(t, c, target)
	close(full)
	if rec := <-done; rec.Error != nil || kept(rec) < answer-h2MaxFrame {
		t.Errorf("%+v, %d bytes", rec.Error, kept(rec))
	}
}

// TestHTTP2FloodOfPings: a server that reads nothing and asks without end is given up.
func TestHTTP2FloodOfPings(t *testing.T) {
	over := make(chan struct{})
	target := rawH2(t, false, func(w *h2Wire) {
		w.out.(*net.TCPConn).SetReadBuffer(4096)
		w.wideOpen()
		var pings bytes.Buffer
		f := http2.NewFramer(&pings, nil)
		for range 1000 {
			f.WritePing(false, [8]byte{})
		}
		for err := error(nil); err == nil; {
			_, err = w.out.Write(pings.Bytes())
		}
		close(over)
	})
	rec := do(h2Client(t, nil), &Request{Target: target, Body: record.Plain(make([]byte, 32<<20))})
	if <-over; rec.Error == nil || !strings.Contains(rec.Error.Message, "that need a reply but does not read: more than 10000") {
		t.Errorf("%+v", rec.Error)
	}
}

// TestHTTP2Padding: padding and the byte of its length are given back to the windows of the stream and of the connection.
func TestHTTP2Padding(t *testing.T) {
	bothWays(t, func(t *testing.T, secret bool) {
		target := rawH2(t, secret, func(w *h2Wire) {
			id := w.request()
			w.stream(id)
			pad := make([]byte, 255)
			window, text := h2StreamWindow, []byte("data: a\n\n")
			for events := range 80_000 { // 21 MB of the window, of which 0.7 MB are content
				for window < 1+len(text)+len(pad) {
					f, err := w.ReadFrame()
					if err != nil {
						t.Errorf("the client ended the connection after %d events: %v", events, err)
						return
					}
					if f, ok := f.(*http2.WindowUpdateFrame); ok && f.StreamID == id {
						window += int(f.Increment)
					}
				}
				if w.WriteDataPadded(id, false, text, pad); w.queue.Len() > 32<<10 {
					w.flush()
				}
				window -= 1 + len(text) + len(pad)
			}
			w.WriteDataPadded(id, true, nil, pad)
			w.flush()
			for err := error(nil); err == nil; { // a socket closed with bytes unread resets the connection
				_, err = w.ReadFrame()
			}
		})
		c := h2Client(t, func(o *Options) { o.MaxResponse, o.Reuse = 1<<30, Never })
		rec := do(c, &Request{Target: target, Body: record.Plain([]byte("{}"))})
		if rec.Error != nil || len(rec.Messages) != 80_000 {
			t.Errorf("%+v, %d messages", rec.Error, len(rec.Messages))
		}
	})
}

// TestHTTP2BrokenRules: each violation by a server is named.
func TestHTTP2BrokenRules(t *testing.T) {
	frame := func(kind http2.FrameType, flags http2.Flags, id byte, payload string) func(*h2Wire) {
		return func(w *h2Wire) {
			w.queue.Write([]byte{0, 0, byte(len(payload)), byte(kind), byte(flags), 0, 0, 0, id})
			io.WriteString(&w.queue, payload)
		}
	}
	for _, c := range []struct {
		name  string
		wrong func(w *h2Wire)
		says  string
	}{
		{"window of the connection", frame(http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00"), "Bad HTTP/2 frame: WINDOW_UPDATE of 0 bytes on stream 0"},
		{"window of the stream", frame(http2.FrameWindowUpdate, 0, 1, "\x00\x00\x00\x00"), "Bad HTTP/2 frame: WINDOW_UPDATE of 0 bytes on stream 1"},
		{"short window", frame(http2.FrameWindowUpdate, 0, 1, "\x00"), "Bad HTTP/2 frame: WINDOW_UPDATE of 1 bytes on stream 1 (FRAME_SIZE_ERROR)"},
		{"window too large", frame(http2.FrameWindowUpdate, 0, 1, "\x7f\xff\xff\xff"), "WINDOW_UPDATE to more than 2147483647 bytes on stream 1"},
		{"long ping", frame(http2.FramePing, 0, 0, "123456789"), "Bad HTTP/2 frame: PING of 9 bytes on stream 0 (FRAME_SIZE_ERROR)"},
		{"no padding length", frame(http2.FrameData, http2.FlagDataPadded, 1, ""), "Bad HTTP/2 frame: DATA with the flag PADDED and a length of 0"},
		{"padding too long", frame(http2.FrameData, http2.FlagDataPadded, 1, "\x09abc"), "Bad HTTP/2 frame: DATA with 9 bytes of padding in a frame of 4"},
		{"data of no stream", frame(http2.FrameData, 0, 0, "abc"), "Bad HTTP/2 frame: DATA on stream 0"},
		{"second head", func(w *h2Wire) { w.stream(1) }, "Bad HTTP/2 headers: a second :status after the response head"},
		{"late interim head", func(w *h2Wire) { w.head(1, false, ":status", "103") }, "a second :status after the response head"},
		{"status in the trailer", func(w *h2Wire) { w.head(1, true, ":status", "200") }, "a second :status after the response head"},
		{"open trailer", func(w *h2Wire) { w.head(1, false, "x-a", "b") }, "a trailer that does not end its stream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := rawH2(t, false, func(w *h2Wire) {
				id := w.request()
				w.stream(id)
				w.flush()
				c.wrong(w)
				w.flush()
			})
			rec := do(h2Client(t, nil), &Request{Target: target, Body: record.Plain([]byte("{}"))})
			if rec.Error == nil || !strings.Contains(rec.Error.Message, c.says) {
				t.Errorf("%+v, want %q", rec.Error, c.says)
			}
		})
	}
	for says, fields := range map[string][]string{
		"a response head without :status":        {"x-a", "b"},
		`duplicate pseudo-header ":status"`:      {":status", "200", ":status", "200"},
		`Bad status: ""`:                         {":status", ""},
		"mix of request and response pseudo hea": {":status", "200", ":path", "/"},
	} {
		target := rawH2(t, false, func(w *h2Wire) { w.head(w.request(), false, fields...); w.flush() })
		rec := do(h2Client(t, nil), &Request{Target: target, Body: record.Plain([]byte("{}"))})
		if rec.Error == nil || !strings.Contains(rec.Error.Message, says) {
			t.Errorf("%q: %+v, want %q", fields, rec.Error, says)
		}
	}
}
