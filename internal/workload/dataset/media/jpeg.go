package media

import (
	"math"
	"math/bits"
)

// jpegQuality is the quality of images on the scale of the Independent JPEG Group, like in the Python tool.
const jpegQuality = 85

// Quantisation tables of ITU-T T.81 annex K.1, row by row: luminance, chrominance.
var jpegQuant = [2][64]int{
	{
		16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
	},
	{
		17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
	},
}

// zigzag is the order of the coefficients of a block.
var zigzag = [64]int{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// huffman is a table of T.81 annex K.3: the number of codes with 1 to 16 bits, and the symbols by code length.
type huffman struct {
	class   byte // high half: 0 DC, 1 AC; low half: number of the table
	counts  [16]byte
	symbols []byte
}

var jpegHuffman = [4]huffman{
	{0x00, [16]byte{0, 1, 5, 1, 1, 1, 1, 1, 1}, []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")},
	{0x10, [16]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d}, acSymbols(
		"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0"+
			"\x24\x33\x62\x72\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28\x29\x2a\x34", 0x34)},
	{0x01, [16]byte{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")},
	{0x11, [16]byte{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77}, acSymbols(
		"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0"+
			"\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1\x17\x18\x19\x1a\x26\x27\x28\x29\x2a\x35", 0x35)},
}

// acSymbols completes a list of AC symbols. Both standard tables end with all missing symbols in order, after last.
func acSymbols(first string, last byte) []byte {
	list := []byte(first)
	given := map[byte]bool{}
	for _, s := range list {
		given[s] = true
	}
	for s := int(last) + 1; s <= 0xfa; s++ {
		if low := s & 15; low >= 1 && low <= 10 && !given[byte(s)] {
			list = append(list, byte(s))
		}
	}
	return list
}

// codes returns the code and its length in bits, by symbol.
func (h huffman) codes() (table [256]struct {
	code uint32
	bits uint8
}) {
	code, k := uint32(0), 0
	for length, n := range h.counts {
		for range n {
			table[h.symbols[k]].code, table[h.symbols[k]].bits = code, uint8(length+1)
			code++
			k++
		}
		code <<= 1
	}
	return table
}

var jpegCodes = [4][256]struct {
	code uint32
	bits uint8
}{jpegHuffman[0].codes(), jpegHuffman[1].codes(), jpegHuffman[2].codes(), jpegHuffman[3].codes()}

// cosines[u][x] is the factor of sample x in coefficient u of the one-dimensional DCT, times 2¹³. All arithmetic uses integers, so that every machine
// writes the same bytes.
var cosines = func() (t [8][8]int32) {
	for u := range 8 {
		scale := 0.5
		if u == 0 {
			scale = math.Sqrt(0.125)
		}
		for x := range 8 {
			t[u][x] = int32(math.Round(scale * math.Cos(float64(2*x+1)*float64(u)*math.Pi/16) * (1 << 13)))
		}
	}
	return t
}()

// jpegWriter writes a baseline JPEG (ITU-T T.81) without chroma subsampling. image/jpeg cannot do that: its images would be half the size.
type jpegWriter struct {
	out   []byte
	acc   uint64
	n     uint         // number of bits in acc
	quant [2][64]int64 // 2³² divided by the quantiser
	table [2][64]byte
}

// encodeJPEG encodes an image with jpegQuality.
func encodeJPEG(m rgb) []byte {
	w := &jpegWriter{out: make([]byte, 0, len(m.pix)/2+1024)}
	w.quantise(jpegQuality)
	w.head(m.width, m.height)
	planes := [3][]int32{}
	columns, rows := (m.width+7)/8, (m.height+7)/8
	for c := range planes {
		planes[c] = make([]int32, columns*8*8)
	}
	last := [3]int{}
	for row := range rows {
		m.stripe(planes, row, columns*8)
		for col := range columns {
			for c := range planes {
				last[c] = w.block(planes[c][col*8:], columns*8, c, last[c])
			}
		}
	}
	if w.n%8 > 0 {
		w.bits(0x7f>>(w.n%8-1), 8-w.n%8) // fill the last byte with ones
	}
	return append(w.out, 0xff, 0xd9)
}

// quantise scales the tables to a quality from 50 to 100.
func (w *jpegWriter) quantise(quality int) {
	for i := range jpegQuant {
		for k, q := range jpegQuant[i] {
			v := min(255, max(1, (q*(200-2*quality)+50)/100))
			w.table[i][k] = byte(v)
			w.quant[i][k] = 1 << 32 / int64(v)
		}
	}
}

// segment appends a marker segment.
func (w *jpegWriter) segment(marker byte, parts ...[]byte) {
	n := 2
	for _, p := range parts {
		n += len(p)
	}
	w.out = append(w.out, 0xff, marker, byte(n>>8), byte(n))
	for _, p := range parts {
		w.out = append(w.out, p...)
	}
}

// head appends all segments before the scan.
func (w *jpegWriter) head(width, height int) {
	w.out = append(w.out, 0xff, 0xd8)
	w.segment(0xe0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"))
	for i := range w.table {
		ordered := make([]byte, 64)
		for k, z := range zigzag {
			ordered[k] = w.table[i][z]
		}
		w.segment(0xdb, []byte{byte(i)}, ordered)
	}
	w.segment(0xc0, []byte{8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1})
	for _, h := range jpegHuffman {
		w.segment(0xc4, []byte{h.class}, h.counts[:], h.symbols)
	}
	w.segment(0xda, []byte{3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0})
}

// stripe converts eight rows to luminance and chrominance (ITU-R BT.601, full range, around 0), times 2⁸. It repeats the last pixels beyond the edges.
func (m rgb) stripe(planes [3][]int32, row, stride int) {
	for y := range 8 {
		line := m.pix[3*m.width*min(m.height-1, row*8+y):]
		at := y * stride
		for x := range stride {
			p := line[3*min(x, m.width-1):]
			r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
			planes[0][at+x] = (19595*r+38470*g+7471*b)>>8 - 128<<8
			planes[1][at+x] = (-11058*r - 21710*g + 32768*b) >> 8
			planes[2][at+x] = (32768*r - 27439*g - 5329*b) >> 8
		}
	}
}

// block writes one block of a component. last is the DC coefficient of the previous block; it returns its own.
func (w *jpegWriter) block(samples []int32, stride, component, last int) int {
	which := min(component, 1)
	var coefficients [64]int
	transform(samples, stride, &w.quant[which], &coefficients)
	dc, ac := &jpegCodes[2*which], &jpegCodes[2*which+1]
	w.value(dc, 0, coefficients[0]-last)
	zeros := 0
	for _, z := range zigzag[1:] {
		v := coefficients[z]
		if v == 0 {
			zeros++
			continue
		}
		for ; zeros > 15; zeros -= 16 {
			w.bits(ac[0xf0].code, uint(ac[0xf0].bits))
		}
		w.value(ac, zeros<<4, v)
		zeros = 0
	}
	if zeros > 0 {
		w.bits(ac[0].code, uint(ac[0].bits))
	}
	return coefficients[0]
}

// transform computes the two-dimensional DCT of a block, quantised and rounded half away from zero.
func transform(samples []int32, stride int, quant *[64]int64, out *[64]int) {
	var half [64]int32 // transformed rows, transposed, times 2⁶
	for y := range 8 {
		s := samples[y*stride : y*stride+8]
		for u := range 8 {
			half[u*8+y] = dot(s, &cosines[u]) >> 15
		}
	}
	for u := range 8 {
		s := half[u*8 : u*8+8]
		for v := range 8 {
			f, sign := int64(dot(s, &cosines[v])), 1 // times 2¹⁹
			if f < 0 {
				f, sign = -f, -1
			}
			out[v*8+u] = sign * int((f*quant[v*8+u]+1<<50)>>51)
		}
	}
}

func dot(s []int32, c *[8]int32) int32 {
	_ = s[7]
	return s[0]*c[0] + s[1]*c[1] + s[2]*c[2] + s[3]*c[3] + s[4]*c[4] + s[5]*c[5] + s[6]*c[6] + s[7]*c[7]
}

// value writes a symbol (number of preceding zeros, length of the value in bits), then the bits of the value.
func (w *jpegWriter) value(codes *[256]struct {
	code uint32
	bits uint8
}, zeros, v int) {
	magnitude, low := uint(v), uint(v)
	if v < 0 {
		magnitude, low = uint(-v), uint(v-1)
	}
	n := uint(bits.Len(magnitude))
	c := codes[zeros|int(n)]
	w.bits(c.code, uint(c.bits))
	w.bits(uint32(low&(1<<n-1)), n)
}

// bits appends the low n bits, n ≤ 16. It inserts a zero byte after a byte of ones, so that this is not a marker.
func (w *jpegWriter) bits(v uint32, n uint) {
	w.acc = w.acc<<n | uint64(v)
	for w.n += n; w.n >= 8; w.n -= 8 {
		b := byte(w.acc >> (w.n - 8))
		if w.out = append(w.out, b); b == 0xff {
			w.out = append(w.out, 0)
		}
	}
}
