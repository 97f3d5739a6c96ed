package rpc

import (
	"bytes"
	"fmt"
	"testing"

	"golang.org/x/net/http2"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// conversation is both directions of a connection that carries stream 3 between frames of the connection.
func conversation(t testing.TB) (out, in []byte) {
	t.Helper()
	var up, down bytes.Buffer
	up.WriteString(http2.ClientPreface)
	w, r := http2.NewFramer(&up, nil), http2.NewFramer(&down, nil)
	for _, err := range []error{
		w.WriteSettings(), w.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte("hpack"), EndHeaders: true}),
		w.WriteWindowUpdate(0, 9), w.WriteData(3, true, []byte("question")),
		r.WriteSettings(), r.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte("hpack"), EndHeaders: true}),
		r.WriteDataPadded(3, false, []byte("0123456789"), make([]byte, 4)), r.WritePing(false, [8]byte{}), r.WriteData(1, false, []byte("another's")),
		r.WriteData(3, false, []byte("abcde")), r.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte("end"), EndHeaders: true, EndStream: true}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return up.Bytes(), down.Bytes()
}

// TestFramesCutAnywhere: whatever pieces the two directions come in, the same is found, and each message gets the stamp of the piece that
// completed it.
func TestFramesCutAnywhere(t *testing.T) {
	out, in := conversation(t)
	for size := 1; size <= len(in); size++ {
		w := newWatch()
		w.begin()
		for i := 0; i < len(out); i += size {
			w.Writes(out[i:min(i+size, len(out))], int64(100+i))
			w.Wrote(int64(101 + i))
		}
		select {
		case <-w.written:
		default:
			t.Fatalf("pieces of %d: the end of the request was not seen", size)
		}
		for i := 0; i < len(in); i += size {
			last := int64(min(i+size, len(in)))
			w.Arrived(in[i:last], transport.Arrival{At: 1000 + last, User: 1001 + last, Since: 1000 + int64(i), Clock: record.KernelClock})
		}
		seen := w.now()
		if seen.stream != 3 || seen.data != 15 || seen.began == 0 || seen.sent <= seen.began-int64(size) || seen.ended < 1000+int64(len(in)) || seen.headers == 0 || seen.reset {
			t.Fatalf("pieces of %d: %+v", size, seen)
		}
		first := int64(bytes.Index(in, []byte("0123456789")) + 10)
		second := int64(bytes.Index(in, []byte("abcde")) + 5)
		for _, c := range []struct {
			end int
			at  int64
		}{{10, first}, {15, second}} {
			a, _, ok := w.at(c.end, 0)
			if early, late := 1000+c.at-a.At, a.At-1000-c.at; !ok || early > 0 || late >= int64(size) {
				t.Errorf("pieces of %d: bytes up to %d at %d, want %d", size, c.end, a.At, 1000+c.at)
			}
			if a.endsRead && size > 1 && a.end == c.end && a.At-1000 != c.at {
				t.Errorf("pieces of %d: nothing is said to follow the bytes up to %d", size, c.end)
			}
		}
		if _, _, ok := w.at(16, 0); ok {
			t.Error("bytes that did not come have an instant")
		}
	}
}

func TestResetIsSeen(t *testing.T) {
	out, _ := conversation(t)
	var down bytes.Buffer
	if err := http2.NewFramer(&down, nil).WriteRSTStream(3, http2.ErrCodeCancel); err != nil {
		t.Fatal(err)
	}
	w := newWatch()
	w.begin()
	w.Writes(out, 1)
	w.Wrote(2)
	w.Arrived(down.Bytes(), transport.Arrival{At: 5})
	if seen := w.now(); !seen.reset || seen.ended != 5 || seen.unstamped != 1 {
		t.Errorf("%+v", seen)
	}
}

// TestAnswerBeforeTheWriteReturns: on a busy machine the reader may run before the writer has returned from its write. Nothing of the answer is
// missed, and the request was sent when its answer came at the latest.
func TestAnswerBeforeTheWriteReturns(t *testing.T) {
	out, in := conversation(t)
	w := newWatch()
	w.begin()
	w.Writes(out, 10)
	w.Arrived(in, transport.Arrival{At: 20, User: 25, Since: 10, Clock: record.KernelClock})
	w.Wrote(30)
	if seen := w.now(); seen.began != 10 || seen.sent != 20 || seen.headers != 20 || seen.ended != 20 || seen.data != 15 || len(seen.arrivals) != 1 {
		t.Errorf("%+v", seen)
	}
	w.begin() // the next request: the end of that write is not its own
	w.Wrote(40)
	if seen := w.now(); seen.sent != 0 {
		t.Errorf("a request that was not written was sent at %d", seen.sent)
	}
}

// FuzzFrames: any bytes, cut anywhere, give the same sums as in one piece.
func FuzzFrames(f *testing.F) {
	_, in := conversation(f)
	f.Add(in, 7)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		if size < 1 {
			return
		}
		sums := func(size int) string {
			var c frames
			heads, bytes, data := 0, 0, 0
			for i := 0; i < len(b); i += size {
				c.cut(b[i:min(i+size, len(b))], func(_ http2.FrameHeader, head bool, payload, d []byte, _ bool) {
					if head {
						heads++
					}
					bytes, data = bytes+len(payload), data+len(d)
				})
			}
			return fmt.Sprint(heads, bytes, data, c.have, c.left)
		}
		if size > len(b) {
			size = len(b) + 1
		}
		if got, want := sums(size), sums(len(b)+1); got != want {
			t.Fatalf("%s in pieces of %d, %s in one", got, size, want)
		}
	})
}
