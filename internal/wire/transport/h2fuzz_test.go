package transport

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"aiperf/internal/measure/record"
)

// FuzzHTTP2: whatever a server sends behind its settings, a request ends with the connection, without a panic, and what it says is in order.
func FuzzHTTP2(f *testing.F) {
	var w h2Wire
	w.enc = hpack.NewEncoder(&w.block)
	w.Framer = http2.NewFramer(&w.queue, nil)
	seed := func(frames func()) {
		w.queue.Reset()
		frames()
		f.Add(bytes.Clone(w.queue.Bytes()))
	}
	seed(func() { w.stream(1); w.WriteData(1, true, []byte("data: a\n\n")) })
	seed(func() {
		w.stream(1)
		w.WriteDataPadded(1, false, []byte("data: a\n\n"), make([]byte, 9))
		w.head(1, true, "x-trailer", "1")
	})
	seed(func() { w.head(1, true, ":status", "429", "retry-after", "1") })
	seed(func() { w.head(1, false, ":status", "100"); w.WriteRSTStream(1, http2.ErrCodeInternal) })
	seed(func() {
		w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		w.WriteWindowUpdate(0, 9)
		w.WriteWindowUpdate(1, 1<<30)
	})
	seed(func() { w.WritePing(false, [8]byte{1}); w.WriteGoAway(0, http2.ErrCodeNo, nil) })
	seed(func() { w.head(1, false, ":status", "200", "content-length", "5"); w.WriteData(1, true, []byte("{}")) })
	f.Fuzz(func(t *testing.T, sent []byte) {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() { // at most two connections: a request that the server says it did not read is sent again
			defer close(over)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0}) // settings
				buf := make([]byte, 64<<10)
				for n := 0; n < len(http2.ClientPreface)+40; { // the preface and most of a request
					m, err := c.Read(buf)
					if n += m; err != nil {
						break
					}
				}
				c.Write(sent)
				c.(*net.UnixConn).CloseWrite()
				io.Copy(io.Discard, c)
				c.Close()
			}
		}()
		o := DefaultOptions()
		o.Loop = !*poller
		o.HTTP2, o.Timeout, o.Socket = true, 10*time.Second, path
		c, err := NewClient(o)
		if err != nil {
			t.Fatal(err)
		}
		rec := do(c, &Request{Target: mustTarget(t, "http://h/"), Body: record.Plain([]byte("{}"))})
		at := rec.Start
		for i, m := range rec.Messages {
			if m.At < at || m.UncertainNs < 0 {
				t.Errorf("message %d at %d, uncertain by %d, behind %d", i, m.At-rec.Start, m.UncertainNs, at-rec.Start)
			}
			at = m.At
		}
		if rec.Error != nil && rec.Error.Type == ErrTimeout {
			t.Errorf("the request waited for a connection that had ended: %+v", rec.Error)
		}
		if rec.Error == nil && rec.Status/100 != 2 {
			t.Errorf("status %d without an error", rec.Status)
		}
		rec.Release()
		c.Close()
		waitFor(t, func() bool { return c.Stats().OpenConns == 0 })
		l.Close()
		<-over
	})
}
