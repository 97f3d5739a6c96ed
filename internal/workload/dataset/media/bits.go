package media

import "math/bits"

// bitWriter writes integers of any width, most significant bit first.
type bitWriter struct {
	out []byte
	acc uint64
	n   uint // number of bits in acc, below 8
}

// put appends the low n bits of v, n ≤ 32.
func (w *bitWriter) put(v uint64, n uint) {
	w.acc = w.acc<<n | v&(1<<n-1)
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.acc>>(w.n-8)))
	}
}

// golomb appends an unsigned Exp-Golomb code (ITU-T H.264, 9.1).
func (w *bitWriter) golomb(v uint64) {
	n := uint(bits.Len64(v + 1))
	w.put(0, n-1)
	w.put(v+1, n)
}

// align fills the last byte with zeros.
func (w *bitWriter) align() {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
}
