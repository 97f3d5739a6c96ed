package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/base/binenc"
)

// drawColumn makes a column of blocks of every form.
func drawColumn(t *rapid.T) *Column {
	c := new(Column)
	for range rapid.IntRange(0, 3).Draw(t, "blocks") {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		n := rapid.SampledFrom([]int{1, 7, chunkLen - 1, chunkLen}).Draw(t, "n")
		for i := range n {
			switch kind {
			case 0:
				c.Append(math.NaN())
			case 1:
				c.Append(float64(i))
			case 2:
				c.Append(float64(i) * 1e5)
			default:
				c.Append(-float64(i) / 3)
			}
		}
	}
	return c
}

func equalColumns(t *rapid.T, got *Column, want ...*Column) {
	var all []float64
	for _, c := range want {
		all = c.AppendTo(all)
	}
	values := got.AppendTo(nil)
	if len(values) != len(all) {
		t.Fatalf("%d values, want %d", len(values), len(all))
	}
	for i := range all {
		if math.Float64bits(values[i]) != math.Float64bits(all[i]) {
			t.Fatalf("value %d: %v, want %v", i, values[i], all[i])
		}
	}
}

func TestAColumnComesBackWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := drawColumn(t), drawColumn(t)
		w := binenc.NewWriter(nil)
		one.Visit(w)
		var back Column
		r := binenc.NewReader(w.Bytes())
		if back.Visit(r); r.Err() != nil || len(r.Bytes()) != 0 {
			t.Fatalf("%v, %d bytes left", r.Err(), len(r.Bytes()))
		}
		equalColumns(t, &back, one)
		back.AppendAll(two)
		equalColumns(t, &back, one, two)
	})
}

func FuzzColumn(f *testing.F) {
	w := binenc.NewWriter(nil)
	c := new(Column)
	c.Pad(chunkLen+3, 5)
	c.Visit(w)
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Column
		r := binenc.NewReader(b)
		if c.Visit(r); r.Err() == nil && c.Len() != len(c.AppendTo(nil)) {
			t.Fatalf("%d values, %d told", len(c.AppendTo(nil)), c.Len())
		}
	})
}
