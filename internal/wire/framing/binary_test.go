package framing

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
)

// eventText returns a message of an Amazon event stream with string headers, given as names and values in turn.
func eventText(payload string, headers ...string) string {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(append(h, byte(len(headers[i]))), headers[i]...)
		h = binary.BigEndian.AppendUint16(append(h, stringHeader), uint16(len(headers[i+1])))
		h = append(h, headers[i+1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(preludeBytes+checksumBytes+len(h)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// published is a message of the specification's test suite (aws-c-event-stream and its ports): no headers, payload {'foo':'bar'}.
const published = "\x00\x00\x00\x1d\x00\x00\x00\x00\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36"

// TestEventStream: the fields of events, exceptions, errors and damaged messages.
func TestEventStream(t *testing.T) {
	if got := eventText("{'foo':'bar'}"); got != published {
		t.Errorf("%x, but the specification has %x", got, published)
	}
	damaged := []byte(eventText(`{"a":1}`))
	damaged[len(damaged)-6] ^= 1
	for _, c := range []struct {
		name, raw string
		plain     bool
		data      string
		event     string
		comment   string
	}{
		{"event", eventText(`{"a":1}`, ":event-type", "chunk", ":message-type", "event", ":content-type", "application/json"), true, `{"a":1}`, "chunk", ""},
		{"wrapped", eventText(`{"bytes":"eyJhIjoxfQ==","p":"abc"}`, ":event-type", "chunk"), false, `{"a":1}`, "chunk", ""},
		{"wrapped by mistake", eventText(`{"bytes":"§"}`), false, `{"bytes":"§"}`, "", ""},
		{"exception", eventText(`{"message":"slow down"}`, ":message-type", "exception", ":exception-type", "throttlingException"), false, `{"message":"slow down"}`, "error", "throttlingException: slow down"},
		{"error", eventText("", ":message-type", "error", ":error-code", "500", ":error-message", "boom"), false, "", "error", "500: boom"},
		{"damaged", string(damaged), false, "", "error", "The event stream is damaged: the checksum of a message is wrong"},
		{"cut", eventText(`{"a":1}`)[:20], false, "", "error", "The event stream is damaged: the last message is cut"},
		{"headers", eventText("x", strings.Repeat("n", 300), ""), false, "", "error", "The event stream is damaged: the headers of a message cannot be read"},
	} {
		doc, plain := EventStream{}.Data([]byte(c.raw), true)
		var e Event
		EventStream{}.Parse(&e, []byte(c.raw))
		if plain != c.plain || plain && string(doc) != c.data || string(e.Data()) != c.data || string(e.Name()) != c.event || string(e.Comment()) != c.comment {
			t.Errorf("%s: plain %v, data %q, event %q, comment %q", c.name, plain, e.Data(), e.Name(), e.Comment())
		}
		if fails := (EventStream{}).MayFail([]byte(c.raw), true); fails != (c.event == "error") {
			t.Errorf("%s: may fail: %v", c.name, fails)
		}
	}
}

// TestEventStreamFraming: messages are found by their lengths however the stream is cut; after a damaged prelude there is one more message.
func TestEventStreamFraming(t *testing.T) {
	one, two := eventText(`{"a":1}`, ":event-type", "x"), published
	for cut := range len(one) + len(two) {
		check(t, []string{"1|" + one, "1|" + two}, cutBy(EventStream{}, (one + two)[:cut], (one + two)[cut:]))
	}
	check(t, []string{"1|" + one, "1|" + two[:15]}, cutBy(EventStream{}, one+two[:15]))
	check(t, []string{"1|" + one, "1|HTTP/1.1 200 OK"}, cutBy(EventStream{}, one, "HTTP/1.1 200 OK", one))
	if !(EventStream{}).Unlabelled([]byte(one)) || (EventStream{}).Unlabelled([]byte(`{"a":1}`)) {
		t.Error("unlabelled")
	}
	huge := binary.BigEndian.AppendUint32(nil, 1<<31)
	huge = binary.BigEndian.AppendUint32(huge, 0)
	huge = binary.BigEndian.AppendUint32(huge, crc32.ChecksumIEEE(huge))
	if n, fault := messageLength(huge); n != 0 || !strings.Contains(fault, "2147483648 bytes, at most 25165824") {
		t.Errorf("%d %s", n, fault)
	}
}

// TestDocuments: JSON objects in a row, in a list, over several lines, with brackets in texts.
func TestDocuments(t *testing.T) {
	for in, want := range map[string][]string{
		`{"a":1}{"b":{"c":[1,{}]}}`:                     {`1|{"a":1}`, `1|{"b":{"c":[1,{}]}}`},
		"[{\"a\":1}\n,\r\n{\"b\":\"}]{\\\"\\\\\"}\n]\n": {`1|{"a":1}`, `1|{"b":"}]{\"\\"}`},
		"{\n \"a\": 1\n}\n\x1e{\"b\":2}":                {"1|{\n \"a\": 1\n}", `1|{"b":2}`},
		`{"a":1}{"b":`:                                  {`1|{"a":1}`, `1|{"b":`},
		`"{" 5 {"a":"x"}`:                               {`1|{"a":"x"}`},
		``:                                              nil,
	} {
		check(t, want, cutBy(Documents{}, in))
		for cut := range len(in) {
			check(t, want, cutBy(Documents{}, in[:cut], in[cut:]))
		}
		check(t, want, cutBy(Documents{}, strings.Split(in, "")...))
	}
	if !(Documents{}).Unlabelled([]byte("[\n{\"a\":1}]")) || (Documents{}).Unlabelled([]byte(`{"a":1}`)) {
		t.Error("unlabelled")
	}
}

// TestTextIsCutByReads: every read is a message; a character is not cut; white space survives an export.
func TestTextIsCutByReads(t *testing.T) {
	check(t, []string{"1| a", "1|é", "1|\n"}, cutBy(Text{}, " a\xc3", "\xa9", "\n"))
	check(t, []string{"1|a", "1|\xe2\x82"}, cutBy(Text{}, "a\xe2\x82"))
	check(t, []string{"1|\xff\xff\xff\xff\xff"}, cutBy(Text{}, "\xff\xff\xff\xff\xff"))
	var e Event
	Text{}.Parse(&e, []byte(" a\n"))
	if got := e.Fields(); len(got) != 1 || got[0].Value != `" a\n"` {
		t.Errorf("%v", got)
	}
}

// FuzzBinaryFraming: however a stream is cut, the messages are the same; no message is outside the stream and none panics.
func FuzzBinaryFraming(f *testing.F) {
	f.Add([]byte(published+published), uint8(9))
	f.Add([]byte(`[{"a":"}"},{"b":[]}]`), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, cut uint8) {
		at := min(int(cut), len(in))
		for _, format := range []Format{EventStream{}, Documents{}} {
			whole, pieces := cutBy(format, string(in)), cutBy(format, string(in[:at]), string(in[at:]))
			if _, documents := format.(Documents); documents && strings.Join(whole, "\x00") != strings.Join(pieces, "\x00") {
				t.Errorf("%T: %q, in pieces %q", format, whole, pieces)
			}
			for _, m := range whole {
				raw := []byte(m[2:])
				var e Event
				format.Parse(&e, raw)
				format.MayFail(raw, true)
				format.Data(raw, true)
			}
		}
	})
}
