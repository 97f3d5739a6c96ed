package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// event returns the n-th event of a stream like those of real servers.
func event(n int) []byte {
	return fmt.Appendf(nil, `data: {"id":"chatcmpl-1f0c","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" w%d"},"logprobs":null,"finish_reason":null}]}`, n)
}

// pack packs messages in pieces of some messages each, beginning with the first-th, and returns what they hold.
func pack(t *testing.T, p *Packed, messages []Message, first, piece int) [][]byte {
	t.Helper()
	var want [][]byte
	for _, m := range messages {
		want = append(want, m.Raw)
	}
	for from := first; from < len(messages); from += piece {
		end := min(from+piece, len(messages))
		page := make([][]byte, end)
		for i := from; i < end; i++ {
			page[i] = bytes.Clone(messages[i].Raw)
			messages[i].Raw = page[i]
		}
		if !p.Pack(messages[:end], from) {
			t.Fatalf("messages from %d are not packed", from)
		}
		for i := from; i < end; i++ {
			clear(page[i]) // the page belongs to somebody else now
		}
	}
	return want
}

func wantBytes(t *testing.T, messages []Message, want [][]byte) {
	t.Helper()
	for i, m := range messages {
		if m.IsPacked() || !bytes.Equal(m.Raw, want[i]) || m.Line != (i%2 == 0) {
			t.Fatalf("message %d is %q, want %q", i, m.Raw, want[i])
		}
	}
}

func TestPackedEventsNeedATenth(t *testing.T) {
	var messages []Message
	for i := range 1000 {
		messages = append(messages, Message{Raw: event(i), Line: i%2 == 0})
	}
	var p Packed
	whole := Size(messages)
	want := pack(t, &p, messages, 20, 17)
	if !messages[20].IsPacked() || messages[19].IsPacked() || messages[999].Raw != nil {
		t.Fatal("not the messages from 20 on are packed")
	}
	list := Size(make([]Message, len(messages)))
	if packed := Size(messages); packed-list > (whole-list)/10 {
		t.Errorf("%d bytes packed, %d whole", packed-list, whole-list)
	}
	Unpack(messages)
	wantBytes(t, messages, want)
	p.Reset()
}

// TestPackedEventsOfAnyKind: whatever the messages hold and wherever the pages end, the same bytes return.
func TestPackedEventsOfAnyKind(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var p Packed
	for range 2000 {
		var messages []Message
		for i := range 1 + rng.IntN(30) {
			raw := make([]byte, rng.IntN(40))
			for k := range raw {
				raw[k] = 'a' + byte(rng.IntN(1+rng.IntN(3)))
			}
			messages = append(messages, Message{Raw: raw, Line: i%2 == 0})
		}
		first := rng.IntN(len(messages))
		want := pack(t, &p, messages, first, 1+rng.IntN(8))
		Unpack(messages)
		wantBytes(t, messages, want)
		p.Reset()
	}
}

// TestUnpackInTheMiddle: a reader may need the bytes before the answer has ended. Nothing is packed from then on.
func TestUnpackInTheMiddle(t *testing.T) {
	var messages []Message
	for i := range 30 {
		messages = append(messages, Message{Raw: event(i), Line: i%2 == 0})
	}
	var p Packed
	want := pack(t, &p, messages[:20], 4, 5)
	Unpack(messages[:10])
	wantBytes(t, messages[:10], want)
	if p.Pack(messages, 20) {
		t.Error("messages are packed behind unpacked ones")
	}
	if !messages[12].IsPacked() || messages[25].IsPacked() {
		t.Error("the wrong messages are packed")
	}
}

func TestBinaryFormOfPackedMessages(t *testing.T) {
	r := Record{Status: 200}
	for i := range 100 {
		r.Messages = append(r.Messages, Message{At: int64(i), Raw: event(i), Line: i%2 == 0})
	}
	var p Packed
	want := pack(t, &p, r.Messages, 3, 9)
	var back Record
	if err := back.Read(r.Append(nil)); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, back.Messages, want)
}

func FuzzPacked(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\ndata: {\"a\":2}\ndata: {\"a\":12}\n\ndata: [DONE]"), uint8(1), uint8(2))
	f.Add([]byte("aaaa\naaaaa\naa\n\na"), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, first, piece uint8) {
		var messages []Message
		for i, line := range bytes.Split(text, []byte("\n")) {
			messages = append(messages, Message{Raw: line, Line: i%2 == 0})
		}
		var p Packed
		want := pack(t, &p, messages, int(first)%len(messages), 1+int(piece)%20)
		Unpack(messages)
		wantBytes(t, messages, want)
	})
}
