package framing

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// frame cuts a stream that comes in pieces, moving the buffer between them as callers do.
func frame(pieces ...string) []string { return cutBy(SSE, pieces...) }

// cutBy is frame for any format.
func cutBy(format Format, pieces ...string) []string {
	f := format.Framer()
	var buf []byte
	var out []string
	for _, p := range pieces {
		if n := f.Pending(); n > 0 {
			buf = append([]byte(nil), buf[n:]...)
			f.Rebase(n)
		}
		buf = append(buf, p...)
		for s, ok := f.Next(buf); ok; s, ok = f.Next(buf) {
			out = append(out, fmt.Sprintf("%d|%s", s.Lines, buf[s.Start:s.End]))
		}
	}
	if s, ok := f.Finish(buf); ok {
		out = append(out, fmt.Sprintf("%d|%s", s.Lines, buf[s.Start:s.End]))
	}
	return out
}

func TestFraming(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"LF", "data: a\n\ndata: b\n\n", []string{"1|data: a", "1|data: b"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"1|data: a", "1|data: b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"1|data: a", "1|data: b"}},
		{"mixed", "data: a\r\n\ndata: b\n\r\n", []string{"1|data: a", "1|data: b"}},
		{"mark", "\xEF\xBB\xBFdata: a\n\n\xEF\xBB\xBFdata: b\n\n", []string{"1|data: a", "1|\xEF\xBB\xBFdata: b"}},
		{"half a mark", "\xEF\xBB", []string{"1|\xEF\xBB"}},
		{"mark alone", "\xEF\xBB\xBF", nil},
		{"empty lines", "\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n", []string{"1|data: a", "1|data: b"}},
		{"blank lines end nothing", "data: a\n \t\ndata: b\n\n", []string{"2|data: a\n \t\ndata: b"}},
		{"only blanks", " \n\n\t\n\n", nil},
		{"no end", "data: a\n\ndata: b", []string{"1|data: a", "1|data: b"}},
		{"one byte without an end", "data: a\nx", []string{"2|data: a\nx"}},
		{"one line end", "data: a\n", []string{"1|data: a"}},
		{"one CR", "data: a\r", []string{"1|data: a"}},
		{"separators of Unicode", "data: \u2028\u2029\u0085\n\n", []string{"1|data: \u2028\u2029\u0085"}},
		{"several lines", "event: x\r\ndata: a\r\n: c\r\n\r\n", []string{"3|event: x\r\ndata: a\r\n: c"}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.want, frame(c.in))
			for cut := range len(c.in) {
				check(t, c.want, frame(c.in[:cut], c.in[cut:]))
			}
			check(t, c.want, frame(strings.Split(c.in, "")...))
		})
	}
}

func check(t *testing.T, want, got []string) {
	t.Helper()
	if strings.Join(want, "\x00") != strings.Join(got, "\x00") {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestCROnItsOwnEndsTheMessageAtOnce(t *testing.T) {
	f := SSE.Framer()
	first := []byte("data: a\r\n\r")
	if _, ok := f.Next(first); !ok {
		t.Fatal("the CR at the end of a read did not end the message")
	}
	if s, ok := f.Next(append(first, "\ndata: b\n\n"...)); !ok || s.Start != len(first)+1 {
		t.Fatalf("second message at %+v, %v", s, ok)
	}
}

// Any way to cut a stream gives the same messages.
func TestFramingDoesNotDependOnTheCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOfN(rapid.SampledFrom([]rune("d:a \n\r\uFEFF\t")), 0, 60, -1).Draw(t, "stream")
		want := frame(in)
		var pieces []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := frame(pieces...); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("pieces %q: got %q, whole: %q", pieces, got, want)
		}
	})
}

// The work per byte must not grow with the length of the stream, whatever ends its lines.
func TestFramingIsLinear(t *testing.T) {
	for name, unit := range map[string]string{
		"one long line": "x", "CR lines": "x\r", "LF lines": "x\n", "CR messages": "x\r\r", "blank lines": " \r",
	} {
		in := bytes.Repeat([]byte(unit), 8<<20/len(unit))
		f := SSE.Framer()
		for at := 0; at < len(in); at = min(at+4096, len(in)) { // 2,048 reads; a rescan of the whole would take minutes
			for _, ok := f.Next(in[:at]); ok; _, ok = f.Next(in[:at]) {
			}
		}
		if s, ok := f.Finish(in); ok && s.End > len(in) {
			t.Errorf("%s: message %+v beyond the stream", name, s)
		}
	}
}

func FuzzFraming(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\ndata: b\n\n\xEF\xBB\xBF: c\r\r"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, cut uint8) {
		whole := frame(string(in))
		k := min(int(cut), len(in))
		if got := frame(string(in[:k]), string(in[k:])); strings.Join(got, "\x00") != strings.Join(whole, "\x00") {
			t.Errorf("cut at %d: %q, whole: %q", k, got, whole)
		}
		for _, m := range whole {
			_, raw, _ := strings.Cut(m, "|")
			if strings.TrimLeft(raw, " \t\r\n") == "" || strings.Contains(raw, "\n\n") || strings.Contains(raw, "\r\r") {
				t.Errorf("message %q", raw)
			}
			var e Event
			SSE.Parse(&e, []byte(raw))
			e.Data()
			e.Text()
			e.Fields()
			SSE.MayFail([]byte(raw), false)
		}
	})
}
