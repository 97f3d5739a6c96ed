package bus

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestPiecesOverAnyNetwork: whatever the network loses, doubles and reorders, and however often storing fails, each piece is stored once and in order,
// and nothing counts as acknowledged that is not stored.
func TestPiecesOverAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent []*Piece
		var receipts []receipt
		out := newOutbox(3, 1<<30, func(p *Piece) error {
			copied := *p
			sent = append(sent, &copied)
			return nil
		})
		in := &inbox{epoch: 3}
		var stored []string
		count := rapid.IntRange(1, 30).Draw(t, "count")
		put := 0
		step := func(reliable bool) {
			for p := out.take(); p != nil; p = out.take() {
				if err := out.send(p); err != nil {
					t.Fatal(err)
				}
			}
			if len(sent) > 0 {
				at := 0
				if !reliable {
					at = rapid.IntRange(0, len(sent)-1).Draw(t, "at")
				}
				p := sent[at]
				if reliable || rapid.IntRange(0, 3).Draw(t, "fate") > 0 {
					sent = append(sent[:at], sent[at+1:]...)
				}
				if reliable || rapid.IntRange(0, 3).Draw(t, "lost") > 0 {
					fails := !reliable && rapid.IntRange(0, 4).Draw(t, "fails") == 0
					receipts = append(receipts, in.take(p, func(p *Piece) error {
						if fails {
							return errors.New("disk full")
						}
						stored = append(stored, string(p.Data))
						return nil
					}))
				}
			}
			if len(receipts) > 0 && (reliable || rapid.Bool().Draw(t, "receipt")) {
				at := 0
				if !reliable {
					at = rapid.IntRange(0, len(receipts)-1).Draw(t, "which")
				}
				r := receipts[at]
				receipts = append(receipts[:at], receipts[at+1:]...)
				out.receive(&r)
			}
			if !reliable && rapid.IntRange(0, 9).Draw(t, "again") == 0 {
				out.again()
			}
			if out.base > int64(len(stored)) {
				t.Fatalf("%d pieces are acknowledged, %d stored", out.base, len(stored))
			}
		}
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			if put < count && rapid.Bool().Draw(t, "put") {
				if _, err := out.Put(t.Context(), fmt.Append(nil, put), put == count-1); err != nil {
					t.Fatal(err)
				}
				put++
			}
			step(false)
		}
		for ; put < count; put++ {
			if _, err := out.Put(t.Context(), fmt.Append(nil, put), put == count-1); err != nil {
				t.Fatal(err)
			}
		}
		for k := 0; k < 2*count && out.base < int64(count); k++ { // a network without faults
			for step(true); len(sent)+len(receipts) > 0; {
				step(true)
			}
			out.again()
		}
		if out.err != nil || out.bytes != 0 || len(out.pieces) != 0 || !in.last || len(stored) != count {
			t.Fatalf("%v, %d bytes, %d pieces left, last %v, %d stored of %d", out.err, out.bytes, len(out.pieces), in.last, len(stored), count)
		}
		for k, data := range stored {
			if data != fmt.Sprint(k) {
				t.Fatalf("piece %d is %q", k, data)
			}
		}
	})
}

// TestOutboxBound: an outbox waits while too many bytes are not acknowledged, and takes data that are larger than the bound alone.
func TestOutboxBound(t *testing.T) {
	out := newOutbox(0, 10, func(*Piece) error { return nil })
	if _, err := out.Put(deadline(t), make([]byte, 20), false); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := out.Put(deadline(t), make([]byte, 1), false)
		result <- err
	}()
	out.receive(&receipt{Next: 1})
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// TestReceiptsThatLie: a receipt for what was never sent ends the outbox; one of another epoch, or an overtaken one, changes nothing.
func TestReceiptsThatLie(t *testing.T) {
	out := newOutbox(5, 10, func(*Piece) error { return nil })
	for range 3 {
		if _, err := out.Put(deadline(t), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	out.receive(&receipt{Epoch: 4, Next: 9})
	out.receive(&receipt{Epoch: 5, Next: 2})
	out.receive(&receipt{Epoch: 5, Next: 1})
	if out.base != 2 || out.err != nil {
		t.Errorf("%d, %v", out.base, out.err)
	}
	out.receive(&receipt{Epoch: 5, Next: 4})
	if _, err := out.Put(deadline(t), nil, false); err == nil {
		t.Error("an acknowledgement for nothing is believed")
	}
}

// TestQuestionsOnce: a question that comes again is not handled again, whatever was answered and received meanwhile.
func TestQuestionsOnce(t *testing.T) {
	w := newMember("w1")
	ask := func(number int64, open ...int64) (*answer, bool) {
		return w.ask(&question{Number: number, Open: open, Kind: "x"})
	}
	if _, begin := ask(0, 0); !begin {
		t.Fatal("question 0")
	}
	for k := int64(1); k < 200; k++ { // 0 stays open while 199 others are answered
		if a, begin := ask(k, 0, k); !begin {
			t.Fatalf("question %d: %+v", k, a)
		}
		w.answered(&answer{Number: k, Reason: fmt.Sprint(k)})
		if a, begin := ask(k, 0, k); begin || a == nil || a.Reason != fmt.Sprint(k) {
			t.Fatalf("question %d again: %+v", k, a)
		}
	}
	for _, k := range []int64{0, 1, 100} { // copies that were late on their way
		if a, begin := ask(k, 0, k); begin || k > 0 && a != nil {
			t.Errorf("question %d is handled again: %+v", k, a)
		}
	}
	w.answered(&answer{Number: 0, Reason: "0"})
	if a, _ := ask(0, 0); a == nil || a.Reason != "0" {
		t.Errorf("%+v", a)
	}
	if _, begin := ask(200, 200); !begin || len(w.asked) != 1 {
		t.Errorf("%d answers are kept", len(w.asked))
	}
	if _, begin := ask(150, 150); begin {
		t.Error("an old question is handled again")
	}
}

// TestPutSplits: large data travel in pieces that belong together. Acknowledged ones are kept until all are acknowledged.
func TestPutSplits(t *testing.T) {
	out := newOutbox(0, 1<<30, nil)
	data := make([]byte, 2*MaxPiece+5)
	for i := range data {
		data[i] = byte(i / 1000)
	}
	for _, d := range [][]byte{nil, data, []byte("x")} {
		if _, err := out.Put(t.Context(), d, false); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := out.Put(t.Context(), nil, true); n != 5 || err != nil {
		t.Errorf("the last piece is number %d, %v", n, err)
	}
	left := func(from int, more ...bool) {
		t.Helper()
		list := out.Unacknowledged()
		var got []byte
		for i, p := range list {
			if p.Number != int64(from+i) || i < len(more) && p.More != more[i] || p.Last != (p.Number == 5) {
				t.Errorf("%d: number %d, more %v, last %v", i, p.Number, p.More, p.Last)
			}
			got = append(got, p.Data...)
		}
		if len(list) != 6-from || from <= 1 && !bytes.Equal(got, append(bytes.Clone(data), 'x')) {
			t.Errorf("%d pieces with %d bytes from %d on", len(list), len(got), from)
		}
	}
	left(0, false, true, true, false, false, false)
	for next, from := range map[int64]int{1: 1, 2: 1, 3: 1} {
		out.receive(&receipt{Next: next})
		left(from, true, true, false)
	}
	out.receive(&receipt{Next: 4})
	left(4)
	out.receive(&receipt{Next: 6})
	if list := out.Unacknowledged(); len(list) != 0 || out.bytes != 0 {
		t.Errorf("%d pieces, %d bytes", len(list), out.bytes)
	}
}

// TestPutAfterClose: results that are ready only after the client was closed are not lost: the machine can keep them.
func TestPutAfterClose(t *testing.T) {
	c := listen(t, Options{})
	w := dial(t, c.Join(), "w1", nil)
	out := w.Outbox(0, 1)
	w.Close()
	until(t, "the end", func() bool { out.mu.Lock(); defer out.mu.Unlock(); return out.err != nil })
	for _, text := range []string{"early", "late"} {
		if _, err := out.Put(t.Context(), []byte(text), text == "late"); err != nil {
			t.Fatal(err)
		}
	}
	if list := out.Unacknowledged(); len(list) != 2 || string(list[0].Data) != "early" || string(list[1].Data) != "late" || !list[1].Last {
		t.Errorf("%+v", list)
	}
	if err := out.Flush(t.Context(), patience); !errors.Is(err, errClosed) {
		t.Errorf("nothing says that they were not sent: %v", err)
	}
}
