package rng

import (
	"bytes"
	"testing"
)

// TestFillIsNumpys: the bytes that numpy draws for a picture of 2 x 2 pixels, and for the two after it, of 1 and of 3.
func TestFillIsNumpys(t *testing.T) {
	seed := uint64(42)
	n := New(&seed).Stream("dataset.image.noise").Numpy()
	for _, want := range [][]byte{{51, 94, 152, 30, 219, 3, 123, 32, 150, 56, 130, 147}, {172, 110, 55}, {224, 81, 180, 68, 236, 10, 152, 16, 63}} {
		got := make([]byte, len(want))
		if n.Fill(got); !bytes.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestSkip: a stream that skips what was drawn continues like one that drew it, whatever the lengths.
func TestSkip(t *testing.T) {
	for _, lengths := range [][]int{{1}, {4, 8}, {5, 3, 17}, {12, 1, 1, 1, 40}, {8, 9}, {100_003, 7}} {
		drawn, words := NewNumpy(7), uint64(0)
		for _, n := range lengths {
			drawn.Fill(make([]byte, n))
			words += Words(n)
		}
		skipped := NewNumpy(7)
		skipped.Skip(words)
		a, b := make([]byte, 33), make([]byte, 33)
		drawn.Fill(a)
		skipped.Fill(b)
		if !bytes.Equal(a, b) {
			t.Errorf("%v: %v, want %v", lengths, b, a)
		}
		inTwo := NewNumpy(7)
		inTwo.Skip(1)
		inTwo.Skip(words - 1)
		if a, b := drawn.Uint64(), func() uint64 { inTwo.Fill(make([]byte, 33)); return inTwo.Uint64() }(); a != b {
			t.Errorf("%v in two steps: %d, want %d", lengths, b, a)
		}
	}
}
