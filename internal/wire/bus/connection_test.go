package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzFrame: a frame that is accepted is written in the same way again, and a longer one than allowed is refused before its bytes are read.
func FuzzFrame(f *testing.F) {
	f.Add(encodeFrame(framePing, nil))
	f.Add(encodeFrame(frameBeat, &beat{Number: 1, Orders: 2}))
	f.Add([]byte{0, 0, 0, 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{0, 0, 0x40, 2, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, body, err := readFrame(bytes.NewReader(b), maxHello)
		if err != nil {
			return
		}
		again := append([]byte{0, 0, byte((len(body) + 1) >> 8), byte(len(body) + 1), byte(kind)}, body...)
		if len(body) > maxHello || !bytes.HasPrefix(b, again) {
			t.Fatalf("%x is read as kind %d, %x", b, kind, body)
		}
	})
}

// TestLastWords: what was sent before a close arrives, in order.
func TestLastWords(t *testing.T) {
	for _, encrypt := range []bool{false, true} {
		c := listen(t, Options{Encrypt: encrypt})
		w := dial(t, c.Join(), "w1", nil)
		var want []string
		for k := range 200 {
			if err := w.Note("progress", fmt.Append(nil, k)); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprint("w1 progress ", k))
		}
		w.Close()
		until(t, "the notes", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.notes) == len(want) })
		if !slices.Equal(c.notes, want) {
			t.Errorf("%q", c.notes)
		}
		if err := w.Note("progress", nil); !errors.Is(err, errLost) {
			t.Errorf("a note after the end: %v", err)
		}
	}
}

// TestSlowWorker: a worker that reads nothing is cut off when too much waits for it, and the others are served.
func TestSlowWorker(t *testing.T) {
	c := listen(t, Options{})
	slow := &uplink{client: &Client{opts: DialOptions{Join: c.Join(), Token: testToken, Name: "slow"}}, session: NewToken()}
	if err := slow.dial(deadline(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slow.finish(); slow.client.done.Wait() })
	large := make([]byte, MaxData)
	for range maxPending/MaxData + 20 {
		if err := c.Order("slow", "data", large); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the slow connection", func() bool { return c.Drops()[DroppedSlow] == 1 })
	if got, err := dial(t, c.Join(), "w1", nil).Ask(deadline(t), "hello", nil); err != nil || string(got) != "re: " {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSilence: a connection lasts as long as bytes come in time. After that it gets a second look, and is lost.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		s := &socket{Conn: near, silence: lostAfter}
		defer s.Close()
		go func() {
			for range 10 {
				time.Sleep(lostAfter - time.Millisecond)
				if _, err := far.Write([]byte("x")); err != nil {
					t.Error(err)
				}
			}
		}()
		b := make([]byte, 1)
		for k := range 10 {
			if _, err := s.Read(b); err != nil {
				t.Fatalf("read %d: %v", k, err)
			}
		}
		last := time.Now()
		if _, err := s.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(last) != lostAfter+secondLook {
			t.Errorf("after %v: %v", time.Since(last), err)
		}
	})
}

// TestPong: the controller answers pings.
func TestPong(t *testing.T) {
	c := listen(t, Options{})
	u := &uplink{client: &Client{opts: DialOptions{Join: c.Join(), Token: testToken, Name: "w1"}}, session: NewToken(), bulk: true, handle: func(frameKind, []byte) {}}
	if err := u.dial(deadline(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.finish(); u.client.done.Wait() })
	if err := u.send(framePing, nil); err != nil {
		t.Fatal(err)
	}
	if kind, body, err := readFrame(u.current, maxFrame); kind != framePong || len(body) != 0 || err != nil {
		t.Errorf("kind %d, %d bytes, %v", kind, len(body), err)
	}
}

// TestSigns: a client without work sends beats and pings in time for every limit, so its connections last.
func TestSigns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Client{beats: map[int64]int64{}, soon: make(chan struct{}, 1)}
		w.ctx, w.cancel = context.WithCancelCause(t.Context())
		signs := map[frameKind][]time.Time{}
		ends := []net.Conn{}
		for _, lane := range []**uplink{&w.control, &w.bulk} {
			near, far := net.Pipe()
			ends = append(ends, far)
			out := &socket{Conn: near}
			*lane = &uplink{client: w, current: newConnection(out, out)}
			go (*lane).current.write()
		}
		kinds := make(chan frameKind)
		for _, far := range ends {
			go func() {
				for {
					kind, _, err := readFrame(far, maxFrame)
					if err != nil {
						return
					}
					kinds <- kind
				}
			}()
		}
		go w.beatOften()
		for range 40 {
			kind := <-kinds
			signs[kind] = append(signs[kind], time.Now())
		}
		for kind, limit := range map[frameKind]time.Duration{frameBeat: min(lostAfter, goneAfter), framePing: bulkLostAfter} {
			if list := signs[kind]; len(list) < 19 || list[18].Sub(list[0])/18 > limit/4 {
				t.Errorf("kind %d: %d in %v", kind, len(list), list[len(list)-1].Sub(list[0]))
			}
		}
		w.cancel(errClosed)
		for _, far := range ends {
			far.Close()
		}
		for _, u := range []*uplink{w.control, w.bulk} {
			u.lose()
		}
	})
}

// TestNotAController: an address at which something else listens is refused as such or tried again, and never hangs.
func TestNotAController(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) // its result does not matter
			_ = conn.Close()
		}
	}()
	u := &uplink{client: &Client{opts: DialOptions{Join: Join{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}, Token: testToken, Name: "w1"}}}
	if err := u.dial(deadline(t)); err == nil || u.current != nil {
		t.Errorf("%v", err)
	}
}
