package binenc

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

type sample struct {
	I     int64
	N     int
	B     bool
	F     float64
	S     string
	Raw   []byte
	List  []string
	Maybe *float64
}

func (s *sample) visit(c *Coder) {
	c.Int64(&s.I)
	c.Int(&s.N)
	c.Bool(&s.B)
	c.Float64(&s.F)
	c.String(&s.S)
	c.ByteSlice(&s.Raw)
	Slice(c, &s.List, (*Coder).String)
	Pointer(c, &s.Maybe, (*Coder).Float64)
}

func draw(t *rapid.T) sample {
	s := sample{
		I: rapid.Int64().Draw(t, "i"), N: rapid.Int().Draw(t, "n"), B: rapid.Bool().Draw(t, "b"), F: rapid.Float64().Draw(t, "f"),
		S: rapid.String().Draw(t, "s"),
	}
	if rapid.Bool().Draw(t, "bytes") {
		s.Raw = rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
	}
	if rapid.Bool().Draw(t, "list") {
		s.List = rapid.SliceOf(rapid.String()).Draw(t, "list")
	}
	if rapid.Bool().Draw(t, "pointer") {
		f := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), 1.5}).Draw(t, "maybe")
		s.Maybe = &f
	}
	return s
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		w := NewWriter(nil)
		want.visit(w)
		var got sample
		r := NewReader(w.Bytes())
		got.visit(r)
		if r.Err() != nil || len(r.Bytes()) != 0 {
			t.Fatalf("error %v, %d bytes left", r.Err(), len(r.Bytes()))
		}
		if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
		cut := rapid.IntRange(0, len(w.Bytes())-1).Draw(t, "cut")
		r = NewReader(w.Bytes()[:cut])
		got.visit(r)
		if !errors.Is(r.Err(), ErrShort) {
			t.Fatalf("%d of %d bytes were read without an error", cut, len(w.Bytes()))
		}
	})
}

func FuzzRead(f *testing.F) {
	w := NewWriter(nil)
	(&sample{S: "text", List: []string{"a", ""}, Raw: []byte{}}).visit(w)
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var s sample
		r := NewReader(b)
		s.visit(r)
		if len(s.List) > len(b) || len(s.Raw) > len(b) || len(s.S) > len(b) {
			t.Fatalf("%d bytes became more than they are", len(b))
		}
	})
}
