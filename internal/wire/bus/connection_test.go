package bus

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
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

// TestIdleConnections: connections on which nothing happens for longer than any limit stay.
func TestIdleConnections(t *testing.T) {
	testhome.Slow(t)
	c := listen(t, Options{})
	w := dial(t, c.Join(), "w1", nil)
	current := func(u *uplink) *connection { u.mu.Lock(); defer u.mu.Unlock(); return u.current }
	control, bulk := current(w.control), current(w.bulk)
	time.Sleep(bulkLostAfter + 2*beatPeriod)
	if current(w.control) != control || current(w.bulk) != bulk || control == nil || bulk == nil {
		t.Error("an idle connection was made again")
	}
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
