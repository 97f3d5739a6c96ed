package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// TestRepeatedHead: a head is parsed once, as long as the connection brings no other.
func TestRepeatedHead(t *testing.T) {
	var last parsedHead
	one := []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
	first, err := last.parse(one)
	if again, _ := last.parse(bytes.Clone(one)); err != nil || again != first || first.length != 3 {
		t.Fatalf("%p, then %p; %v", first, again, err)
	}
	if other, err := last.parse([]byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")); err != nil || other.length != 4 {
		t.Errorf("%+v %v", other, err)
	}
	bad := []byte("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n")
	for range 2 {
		if _, err := last.parse(bad); err == nil {
			t.Error("a bad head was accepted")
		}
	}
	if again, err := last.parse(one); err != nil || again.length != 3 {
		t.Errorf("after a bad head: %+v %v", again, err)
	}
}

func TestParseHead(t *testing.T) {
	h, err := parseHead("HTTP/1.1 200\r\nX-A: 1\r\n 2\r\nContent-Length: 3, 3\r\ncontent-length: 3\r\n" +
		"Content-Type: Text/HTML; a=b; Charset=\"ISO-8859-1\"\r\nConnection: Keep-Alive, Close\r\nContent-Encoding: GZip\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if h.status != 200 || h.reason != "OK" || h.length != 3 || h.mediaType != "text/html" || h.charset != "iso-8859-1" || !h.close ||
		h.encoding[0] != "gzip" || h.headers[0] != (record.Header{Name: "X-A", Value: "1 2"}) {
		t.Errorf("%+v", h)
	}
	for _, bad := range []string{
		"HTTP/2 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 abc", "HTTP/1.1", "ICY 200 OK", "HTTP/1.1 099 X",
		"HTTP/1.1 200 OK\r\nNo colon", "HTTP/1.1 200 OK\r\nSpace : x", "HTTP/1.1 200 OK\r\n folded: x", "HTTP/1.1 200 OK\r\n: x",
		"HTTP/1.1 200 OK\r\nContent-Length: -1", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2",
		"HTTP/1.1 200 OK\r\nContent-Length: 1, 2", "HTTP/1.1 200 OK\r\nContent-Length: 0x1", "HTTP/1.1 200 OK\r\nContent-Length: ",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
	} {
		if h, err := parseHead(bad + "\r\n\r\n"); err == nil {
			t.Errorf("%q accepted: %+v", bad, h)
		}
	}
	if h, err := parseHead("HTTP/1.0 599 \n\n"); err != nil || h.kind() != "HTTP 599" || h.reusable() {
		t.Errorf("%+v %v", h, err)
	}
}

// unchunk decodes pieces that come one after the other.
func unchunk(pieces ...[]byte) (out []byte, over bool, err error) {
	var d chunkDecoder
	for _, b := range pieces {
		for len(b) > 0 && !d.ended {
			var span []byte
			if span, b, err = d.take(b); err != nil {
				return out, false, err
			}
			out = append(out, span...)
		}
	}
	return out, d.ended, nil
}

func TestChunks(t *testing.T) {
	in := "3;x=y\r\nabc\r\n00A \r\n0123456789\r\n1\nz\n0;l\r\nTrailer: x\r\nOther: y\r\n\r\n"
	for cut := range len(in) {
		out, over, err := unchunk([]byte(in[:cut]), []byte(in[cut:]))
		if string(out) != "abc0123456789z" || !over || err != nil {
			t.Fatalf("cut at %d: %q %v %v", cut, out, over, err)
		}
	}
	for _, bad := range []string{"\r\n", "zz\r\n", "-1\r\n", "3\r\nabcd\r\n", "1234567890abcdef0\r\n", "3x\r\nabc", ";\r\n",
		"1;" + strings.Repeat("x", maxChunkLine+1)} {
		if out, _, err := unchunk([]byte(bad)); err == nil {
			t.Errorf("%.40q accepted: %q", bad, out)
		}
	}
}

// What the standard library chunks, however it is cut, comes out again.
func TestChunksRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire, want bytes.Buffer
		w := httputil.NewChunkedWriter(&wire)
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 1, 40)).Draw(t, "pieces") {
			w.Write(p)
			want.Write(p)
		}
		w.Close()
		wire.WriteString("\r\n")
		b := wire.Bytes()
		k := rapid.IntRange(0, len(b)).Draw(t, "cut")
		out, over, err := unchunk(b[:k], b[k:])
		if !bytes.Equal(out, want.Bytes()) || !over || err != nil {
			t.Fatalf("%q %v %v", out, over, err)
		}
	})
}

// Messages keep their bytes, however big and however cut, also if they were packed; freed pages may be used again.
func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newArena()
		f := framing.SSE.Framer()
		var want []string
		for i := range rapid.IntRange(1, 30).Draw(t, "messages") {
			m := fmt.Sprintf("data: %d%s", i, strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 3000, 5000, 70000}).Draw(t, "size")))
			want = append(want, m)
			for rest := m + "\n\n"; rest != ""; {
				n := min(len(rest), rapid.SampledFrom([]int{1, 100, 4096, 65536}).Draw(t, "read"))
				if n == 1 && len(rest) > 200 {
					n = 50
				}
				all, moved := a.add([]byte(rest[:n]), f.Pending())
				f.Rebase(moved)
				rest = rest[n:]
				for s, ok := f.Next(all); ok; s, ok = f.Next(all) {
					a.messages = append(a.messages, record.Message{Raw: all[s.Start:s.End:s.End]})
				}
			}
		}
		if len(a.messages) != len(want) {
			t.Fatalf("%d messages, want %d", len(a.messages), len(want))
		}
		record.Unpack(a.messages)
		for i, m := range a.messages {
			if string(m.Raw) != want[i] {
				t.Fatalf("message %d is %.40q (%d bytes), want %.40q (%d)", i, m.Raw, len(m.Raw), want[i], len(want[i]))
			}
		}
		a.free()
	})
}

// FuzzAnswer reads anything as a head and as a chunked body, whole and cut in two.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: y\r\n z\r\n\r\nabc"), uint8(0))
	f.Add([]byte("HTTP/1.0 404 \nTransfer-Encoding: chunked\n\n"), uint8(1))
	f.Add([]byte("3;x=y\r\nabc\r\n0\r\nT: x\r\n\r\n"), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		chunks(t, b, min(int(cut), len(b)))
		whole := headEnd(b, 0)
		for cut := range min(len(b), 64) { // piecewise search finds the same end
			if e := headEnd(b[:cut], 0); e >= 0 && e != whole || e < 0 && headEnd(b, cut) != whole {
				t.Fatalf("cut at %d: %d, then %d, whole %d", cut, e, headEnd(b, cut), whole)
			}
		}
		if whole < 0 {
			return
		}
		h, err := parseHead(string(b[:whole]))
		var bad *formatError
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("error of type %T", err)
		}
		if err == nil && (h.status < 100 || h.status > 999 || h.length < -1 || h.chunked && h.length >= 0) {
			t.Fatalf("%+v", h)
		}
	})
}

// chunks reads a chunked body whole and cut in two: the same comes of both, and what the standard library reads.
func chunks(t *testing.T, b []byte, cut int) {
	whole, over, err := unchunk(b)
	parts, over2, err2 := unchunk(b[:cut], b[cut:])
	if !bytes.Equal(whole, parts) && err == nil || over != over2 || (err == nil) != (err2 == nil) {
		t.Errorf("whole %q %v %v, cut at %d %q %v %v", whole, over, err, cut, parts, over2, err2)
	}
	if std, serr := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(b))); serr == nil && over && !bytes.Equal(std, whole) {
		t.Errorf("%q: %q, the standard library reads %q", b, whole, std)
	}
}
