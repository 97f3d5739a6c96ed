package bus

import (
	"bytes"
	"reflect"
	"testing"
)

// messages returns one of each kind of message.
func messages() []message {
	return []message{
		&beat{Number: 1, Orders: 2}, &beatAnswer{Number: 1, Received: 2, Answered: 3}, &order{Number: 3, Kind: "start-at", Data: []byte("x")},
		&note{Kind: "progress", Data: []byte{}}, &question{Number: 5, Open: []int64{4, 5}, Kind: "lease", Data: []byte("y")},
		&answer{Number: 5, Refused: true, Reason: "no"}, &Piece{Epoch: 1, Number: 2, Last: true, Data: []byte("z")},
		&receipt{Epoch: 1, Next: 3, Result: pieceFailed, Reason: "disk full"},
	}
}

// FuzzDecode: no bytes make a decoder fail otherwise than by an error, and what it accepts it writes in the same way again.
func FuzzDecode(f *testing.F) {
	for i, m := range messages() {
		f.Add(i, encode(m))
	}
	f.Add(6, []byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, which int, b []byte) {
		list := messages()
		kind := reflect.TypeOf(list[uint(which)%uint(len(list))]).Elem()
		m := reflect.New(kind).Interface().(message)
		if decode(b, m) != nil {
			return
		}
		again := reflect.New(kind).Interface().(message)
		if err := decode(encode(m), again); err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v becomes %+v: %v", m, again, err)
		}
	})
}

// TestMessages: every message survives the way, and none is accepted with a byte less or more.
func TestMessages(t *testing.T) {
	for _, m := range messages() {
		b := encode(m)
		got := reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
		if err := decode(b, got); err != nil || !reflect.DeepEqual(m, got) {
			t.Errorf("%+v becomes %+v: %v", m, got, err)
		}
		for _, wrong := range [][]byte{b[:len(b)-1], append(bytes.Clone(b), 0)} {
			if decode(wrong, reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)) == nil {
				t.Errorf("%T is read from %d bytes, it has %d", m, len(wrong), len(b))
			}
		}
	}
}

// FuzzParseJoin: an address that is accepted is written in a way that is read as the same.
func FuzzParseJoin(f *testing.F) {
	pin := "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	for _, text := range []string{
		"tcp://127.0.0.1:4222", "tcp://localhost:1/", "tcp://[::1]:4222", "tls://10.0.0.5:4222/" + pin, "tls://host:4222", "tcp://10.0.0.5:4222",
		"tls://u:p@h:1/" + pin, "tls://h:0/" + pin, "tls://h:1/" + pin + "00", "http://h:1/", "tls:h", "", "tls://[fe80::1%25eth0]:1/" + pin, "tls://h:1/" + pin + "?x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := ParseJoin(text)
		if err != nil {
			return
		}
		if j.Port < 1 || j.Port > 65535 || j.Host == "" || j.Pin == "" && !isLoopback(j.Host) {
			t.Fatalf("%q is %+v", text, j)
		}
		if again, err := ParseJoin(j.String()); err != nil || again != j {
			t.Fatalf("%q is %+v, written %q, read %+v: %v", text, j, j.String(), again, err)
		}
	})
}

// FuzzProbe: nothing without the token counts as a probe.
func FuzzProbe(f *testing.F) {
	key := newClockKey(testToken)
	b := make([]byte, probeSize)
	key.seal('p', b)
	f.Add(b[:len(b)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		if key.valid('a', b) {
			t.Fatalf("%x counts as an answer", b)
		}
		kernelStamp(b)
	})
}
