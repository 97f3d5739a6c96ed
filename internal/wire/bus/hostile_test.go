package bus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestHostileWorker: a worker with the token can do nothing in the name of another, and what it sends out of order is dropped and counted.
func TestHostileWorker(t *testing.T) {
	c := listen(t, Options{})
	c.BeginEpoch(2)
	good := dial(t, c.Join(), "good", nil)
	bad := func(name string, bulk bool) *uplink {
		u := &uplink{client: &Client{opts: DialOptions{Join: c.Join(), Token: testToken, Name: name}}, session: strings.Repeat("b", sessionLength), bulk: bulk}
		if err := u.dial(deadline(t)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { u.finish(); u.client.done.Wait() })
		return u
	}
	raw := func(u *uplink, kind frameKind, body []byte) {
		t.Helper()
		frame := append(encodeFrame(kind, nil), body...)
		binary.BigEndian.PutUint32(frame, uint32(len(body)+1))
		if _, err := u.current.Write(frame); err != nil {
			t.Fatal(kind, err)
		}
	}
	piece := func(epoch, number int64, data string) []byte {
		return encode(&Piece{Epoch: epoch, Number: number, Data: []byte(data)})
	}
	notAllowed := 0
	for kind := range 2 * frameReceipt { // what a worker may not send ends its connection
		for _, bulk := range []bool{false, true} {
			if bulk && (kind == framePiece || kind == framePing) || !bulk && (kind == frameBeat || kind == frameNote || kind == frameQuestion) {
				continue
			}
			u := bad(fmt.Sprint("bad", notAllowed), bulk)
			raw(u, kind, nil)
			if _, err := io.Copy(io.Discard, u.current); err != nil {
				t.Log(err) // it was cut off
			}
			notAllowed++
		}
	}
	until(t, "messages that are not allowed", func() bool { return c.Drops()[DroppedKind] == notAllowed })

	bulk, control := bad("bad", true), bad("bad", false)
	raw(bulk, framePiece, piece(1, 0, "old"))
	raw(bulk, framePiece, piece(2, 0, "a"))
	raw(bulk, framePiece, piece(2, 0, "a"))
	raw(bulk, framePiece, piece(2, 0, "b"))
	raw(bulk, framePiece, piece(2, 5, "early"))
	raw(bulk, framePiece, []byte("garbage"))
	raw(control, frameBeat, encode(&beat{Number: 1, Orders: 5}))
	raw(control, frameBeat, nil)
	raw(control, frameQuestion, encode(&question{Number: 3, Open: []int64{4}, Kind: "hello"}))
	raw(control, frameQuestion, encode(&question{Number: 3, Open: []int64{3}, Kind: "HELLO"}))
	raw(control, frameNote, bytes.Repeat([]byte{0xff}, 1000))
	until(t, "drops", func() bool {
		d := c.Drops()
		return d[DroppedDamaged] == 6 && d[DroppedEpoch] == 1 && d[DroppedPiece] == 1
	})
	for range 3 * maxQuestions { // it waits for many answers at a time
		number := time.Now().UnixNano()
		raw(control, frameQuestion, encode(&question{Number: number, Open: []int64{number}, Kind: "wait"}))
	}
	if p := c.stored("bad"); len(p) != 1 || string(p[0].Data) != "a" {
		t.Errorf("%+v", p)
	}
	raw(control, frameNote, make([]byte, maxFrame)) // within the limit of a frame; the note is too long or damaged
	if _, err := control.current.Write([]byte{0xff, 0, 0, 0, byte(frameNote)}); err != nil {
		t.Fatal(err)
	}
	until(t, "the size", func() bool { return c.Drops()[DroppedSize] == 1 })

	got, err := good.Ask(deadline(t), "hello", []byte("still here"))
	if err != nil || string(got) != "re: still here" {
		t.Errorf("%q, %v", got, err)
	}
	out := good.Outbox(2, 1<<20)
	if _, err := out.Put(deadline(t), []byte("mine"), true); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	if p := c.stored("good"); len(p) != 1 || string(p[0].Data) != "mine" {
		t.Errorf("%+v", p)
	}
	c.mu.Lock()
	waits := 0
	for _, a := range c.asked {
		if strings.HasPrefix(a, "bad wait") {
			waits++
		}
	}
	c.mu.Unlock()
	if waits != maxQuestions {
		t.Errorf("%d questions of one worker in progress, at most %d", waits, maxQuestions)
	}
}

// TestStrangers: garbage on the ports harms nobody.
func TestStrangers(t *testing.T) {
	c := listen(t, Options{})
	u, err := net.Dial("udp", c.Join().address())
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	right := make([]byte, probeSize)
	wrong, key := newClockKey(testToken+"x"), newClockKey(testToken)
	wrong.seal('p', right)
	for _, b := range [][]byte{nil, []byte("x"), make([]byte, probeSize), make([]byte, 60000), right} {
		if _, err := u.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	key.seal('p', right)
	if _, err := u.Write(right); err != nil { // the only one that is answered
		t.Fatal(err)
	}
	b := make([]byte, 100)
	u.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := u.Read(b)
	if err != nil || !key.valid('a', b[:n]) || key.valid('p', b[:n]) {
		t.Errorf("%d bytes, %v", n, err)
	}
	u.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := u.Read(b); err == nil {
		t.Errorf("another answer of %d bytes", n)
	}
	tcp, err := net.Dial("tcp", c.Join().address())
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	_, _ = tcp.Write(bytes.Repeat([]byte{0, 0xff, '\r', '\n'}, 10000))
	dial(t, c.Join(), "w1", nil)
}
