package framing

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLines: each line with content is a message, wherever the reads cut the stream.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"LF", "{\"a\":1}\n{\"b\":2}\n", []string{`1|{"a":1}`, `1|{"b":2}`}},
		{"CRLF", "{\"a\":1}\r\n{\"b\":2}\r\n", []string{`1|{"a":1}`, `1|{"b":2}`}},
		{"no line end at the end", "{\"a\":1}\n{\"b\":2}", []string{`1|{"a":1}`, `1|{"b":2}`}},
		{"a CR at the end", "{\"a\":1}\r", []string{`1|{"a":1}`}},
		{"blank lines", "\n\r\n \t\n{\"a\":1}\n\n\n \n{\"b\":2}\n\n", []string{`1|{"a":1}`, `1|{"b":2}`}},
		{"blanks around a document", "  {\"a\":1} \t\n", []string{`1|{"a":1}`}},
		{"a byte order mark", "\xEF\xBB\xBF{\"a\":1}\n\xEF\xBB\xBF{\"b\":2}\n", []string{`1|{"a":1}`, "1|\xEF\xBB\xBF{\"b\":2}"}},
		{"a byte order mark alone", "\xEF\xBB\xBF", nil},
		{"no line", "", nil},
		{"line separators of Unicode", "{\"a\":\"\u2028\u2029\u0085\"}\n", []string{"1|{\"a\":\"\u2028\u2029\u0085\"}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.want, cutBy(NDJSON{}, c.in))
			for cut := range len(c.in) {
				check(t, c.want, cutBy(NDJSON{}, c.in[:cut], c.in[cut:]))
			}
			check(t, c.want, cutBy(NDJSON{}, strings.Split(c.in, "")...))
		})
	}
}

// TestLinesDoNotDependOnTheCuts: any way to cut a stream gives the same messages.
func TestLinesDoNotDependOnTheCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOfN(rapid.SampledFrom([]rune("{a} \n\r\uFEFF\t")), 0, 60, -1).Draw(t, "stream")
		want := cutBy(NDJSON{}, in)
		var pieces []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := cutBy(NDJSON{}, pieces...); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("pieces %q: got %q, whole: %q", pieces, got, want)
		}
	})
}

// TestLongLinesAreLinear: a framer looks at every byte once. A second look at each read's whole buffer would take minutes here.
func TestLongLinesAreLinear(t *testing.T) {
	in := bytes.Repeat([]byte("x"), 8<<20)
	f := NDJSON{}.Framer()
	for at := 0; at < len(in); at += 4096 {
		if s, ok := f.Next(in[:at]); ok {
			t.Fatalf("message %+v without a line end", s)
		}
	}
	if s, ok := f.Finish(in); !ok || s != (Span{0, len(in), 1}) {
		t.Errorf("%+v %v", s, ok)
	}
}

// TestNDJSON: what a document tells without being decoded.
func TestNDJSON(t *testing.T) {
	n := NDJSON{Last: func(doc []byte) (last, mark bool) {
		return bytes.Contains(doc, []byte("end")), string(doc) == `{"end":1}`
	}}
	for _, c := range []struct {
		doc        string
		last, mark bool
		fails      bool
	}{
		{`{"a":1}`, false, false, false},
		{`{"end":1}`, true, true, false},
		{`{"a":1,"end":1}`, true, false, false},
		{`{"error":"out of memory"}`, false, false, true},
		{`{"a":"an error of mine"}`, false, false, false},
	} {
		raw := []byte(c.doc)
		if last, mark := n.Ends(raw); last != c.last || mark != c.mark {
			t.Errorf("%s: last %v, mark %v", c.doc, last, mark)
		}
		if n.MayFail(raw, true) != c.fails {
			t.Errorf("%s: may fail: %v", c.doc, !c.fails)
		}
		doc, ok := n.Data(raw, true)
		var e Event
		n.Parse(&e, raw)
		if !ok || string(doc) != c.doc || string(e.Data()) != c.doc || len(e.Fields()) != 1 || e.Fields()[0] != (Field{Name: "data", Value: c.doc}) {
			t.Errorf("%s: data %s, parsed %s, fields %v", c.doc, doc, e.Data(), e.Fields())
		}
	}
	if last, _ := (NDJSON{}).Ends([]byte(`{"end":1}`)); last {
		t.Error("a document ends a stream that has no last document")
	}
}

// TestUnlabelled: a stream under the media type of a whole body is recognised, for a hint.
func TestUnlabelled(t *testing.T) {
	for body, want := range map[string][2]bool{ // SSE, NDJSON
		"data: {}\n\n":           {true, false},
		"{\"a\":1}\n{\"b\":2}\n": {false, true},
		"{\"a\":1}\r\n{\"b\":2}": {false, true},
		"{\"a\":1}":              {false, false},
		"{\n\"a\":1\n}":          {false, false},
		"":                       {false, false},
	} {
		if got := [2]bool{SSE.Unlabelled([]byte(body)), NDJSON{}.Unlabelled([]byte(body))}; got != want {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
}

// BenchmarkFraming compares the work on an event of 175 bytes, with the concrete type and through the interface: find its end, look whether it ends
// the stream or may fail, cut its data out.
func BenchmarkFraming(b *testing.B) {
	const document = `{"id":"chatcmpl-123456789012","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}`
	events := []byte(strings.Repeat("data: "+document+"\n\n", 64))
	lines := []byte(strings.Repeat(document+"\n", 64))
	b.Run("events, concrete", func(b *testing.B) {
		for i := 0; i < b.N; i += 64 {
			var f eventFramer
			for s, ok := f.Next(events); ok; s, ok = f.Next(events) {
				raw := events[s.Start:s.End]
				last, _ := sse{}.Ends(raw)
				doc, plain := sse{}.Data(raw, s.Lines == 1)
				if last || !plain || len(doc) != len(document) || (sse{}).MayFail(raw, s.Lines == 1) {
					b.Fatalf("%s", raw)
				}
			}
		}
	})
	for name, c := range map[string]struct {
		format Format
		in     []byte
	}{"events, interface": {SSE, events}, "lines, interface": {NDJSON{}, lines}} {
		b.Run(name, func(b *testing.B) {
			for i := 0; i < b.N; i += 64 {
				f := c.format.Framer()
				for s, ok := f.Next(c.in); ok; s, ok = f.Next(c.in) {
					raw := c.in[s.Start:s.End]
					last, _ := c.format.Ends(raw)
					doc, plain := c.format.Data(raw, s.Lines == 1)
					if last || !plain || len(doc) != len(document) || c.format.MayFail(raw, s.Lines == 1) {
						b.Fatalf("%s", raw)
					}
				}
			}
		})
	}
}
