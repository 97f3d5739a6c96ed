package program

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\ndoes not contain %q", err, part)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 1500 {
		t.Errorf("not a harmless line: %q", err)
	}
}

// TestLongLines: the maximum counts without the line end, for lines within and beyond the buffer.
func TestLongLines(t *testing.T) {
	for _, most := range []int{10, 100_000} {
		for _, n := range []int{most - 1, most} {
			line, err := newLineReader(strings.NewReader(strings.Repeat("x", n)+"\n"), most).next()
			if err != nil || len(line) != n {
				t.Errorf("%d of %d: %v, %d", n, most, err, len(line))
			}
		}
		_, err := newLineReader(strings.NewReader(strings.Repeat("x", most+1)+"\n"), most).next()
		wantError(t, err, "a line of more than")
	}
}

// FuzzLines: lines come out as they were put in, in any pieces, and no more than the maximum is kept.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n\r\n a\nlast"), 4)
	f.Add([]byte(strings.Repeat("x", 70_000)+"\n"), 70_000)
	f.Add([]byte("\n\n"), 1)
	f.Fuzz(func(t *testing.T, text []byte, most int) {
		if most < 1 || most > 1<<20 {
			return
		}
		in := newLineReader(iotest.HalfReader(bytes.NewReader(text)), most)
		for i, want := range bytes.SplitAfter(text, []byte("\n")) {
			got, err := in.next()
			var fault *Fault
			switch body := bytes.TrimSuffix(want, []byte("\n")); {
			case len(want) == 0:
				if !errors.Is(err, io.EOF) {
					t.Fatalf("end: %v", err)
				}
			case len(body) > most, len(body) == len(want):
				if !errors.As(err, &fault) {
					t.Fatalf("line %d %q: %v", i, want, err)
				}
				return
			case err != nil || !bytes.Equal(got, bytes.TrimSuffix(body, []byte("\r"))):
				t.Fatalf("line %d: %q, want %q, %v", i, got, want, err)
			}
			if cap(in.buf) > 4*most+8192 {
				t.Fatalf("%d bytes kept for a maximum of %d", cap(in.buf), most)
			}
		}
	})
}
