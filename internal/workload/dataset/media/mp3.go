package media

import (
	"math"
	"math/rand/v2"
)

// mp3Layout holds the frame properties that depend on the sample rate (MPEG audio, layer III, ISO/IEC 11172-3 and 13818-3).
type mp3Layout struct {
	hz       int
	version  uint64 // 3 MPEG-1, 2 MPEG-2, 0 MPEG-2.5
	index    uint64 // index of the sample rate in the header
	granules int    // granules per frame, 576 samples each
	kbps     [2]int // bit rate by channels − 1: close to what LAME chooses by default for this noise
}

// mp3Rates are the layouts by ascending sample rate.
var mp3Rates = []mp3Layout{
	{8000, 0, 2, 1, [2]int{24, 64}},
	{11025, 0, 0, 1, [2]int{24, 64}},
	{12000, 0, 1, 1, [2]int{32, 64}},
	{16000, 2, 2, 1, [2]int{40, 144}},
	{22050, 2, 0, 1, [2]int{56, 160}},
	{24000, 2, 1, 1, [2]int{56, 160}},
	{32000, 3, 2, 2, [2]int{80, 256}},
	{44100, 3, 0, 2, [2]int{96, 320}},
	{48000, 3, 1, 2, [2]int{96, 320}},
}

// mp3Rate returns the layout for a sample rate; nil = MP3 has no such rate.
func mp3Rate(hz int) *mp3Layout {
	for i := range mp3Rates {
		if mp3Rates[i].hz == hz {
			return &mp3Rates[i]
		}
	}
	return nil
}

// mp3Kbps are the bit rates by header index: MPEG-1, then MPEG-2 and 2.5.
var mp3Kbps = [2][15]int{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// noiseMP3 generates an MP3 file of at least n samples per channel. It has whole frames and one extra, because decoders lose one at the end. No
// transform is needed: the spectrum of white noise is white too. The frequency lines are therefore drawn directly, each −1, 0 or 1 times a step.
// Frames are independent (no bit reservoir) and have a constant bit rate.
func noiseMP3(source *rand.Rand, n, hz, channels int) []byte {
	l := mp3Rate(hz)
	perFrame := 576 * l.granules
	frames := (n+perFrame-1)/perFrame + 1
	table := 0
	if l.version != 3 {
		table = 1
	}
	index, kbps := uint64(0), l.kbps[channels-1]
	for i, k := range mp3Kbps[table] {
		if k == kbps {
			index = uint64(i)
		}
	}
	w := &bitWriter{}
	rest := 0 // remainder of the division into bytes per frame
	for range frames {
		bytes := 72 * l.granules * kbps * 1000
		size, padding := bytes/hz, uint64(0)
		if rest += bytes % hz; rest >= hz {
			rest -= hz
			size++
			padding = 1
		}
		end := len(w.out) + size
		w.put(0x7ff, 11)
		w.put(l.version, 2)
		w.put(1, 2) // layer III
		w.put(1, 1) // no CRC
		w.put(index, 4)
		w.put(l.index, 2)
		w.put(padding, 1)
		w.put(0, 1)
		w.put([]uint64{3, 0}[channels-1], 2) // mono, stereo
		w.put(0, 6)
		l.frame(w, source, channels, size)
		w.align()
		for len(w.out) < end { // ancillary data: zeros
			w.put(0, 8)
		}
	}
	return w.out
}

// frame writes the side information and the main data of one frame of size bytes.
func (l *mp3Layout) frame(w *bitWriter, source *rand.Rand, channels, size int) {
	parts := l.granules * channels
	side := l.sideBytes(channels)
	budget := min(4095, (size-4-side)*8/parts)
	lines := make([]spectrum, parts)
	for i := range lines {
		lines[i].draw(source, budget)
	}
	if l.version == 3 {
		w.put(0, 9)                        // the main data begin in this frame
		w.put(0, []uint{5, 3}[channels-1]) // private
		w.put(0, uint(4*channels))         // scale factors are not shared
	} else {
		w.put(0, 8)
		w.put(0, uint(channels))
	}
	for i := range lines {
		w.put(uint64(lines[i].bits), 12)
		w.put(uint64(lines[i].pairs), 9)
		w.put(lines[i].gain(), 8)
		if l.version == 3 {
			w.put(0, 4) // no bits for scale factors
		} else {
			w.put(0, 9)
		}
		w.put(0, 1)             // long blocks
		w.put(1<<10|1<<5|1, 15) // Huffman table 1 in all three regions
		w.put(7, 4)             // their bounds
		w.put(7, 3)
		if l.version == 3 {
			w.put(0, 1) // no pre-emphasis
		}
		w.put(0, 2)
	}
	for i := range lines {
		lines[i].write(w)
	}
}

// sideBytes is the size of the side information.
func (l *mp3Layout) sideBytes(channels int) int {
	if l.version == 3 {
		return []int{17, 32}[channels-1]
	}
	return []int{9, 17}[channels-1]
}

// mp3Gain is the global gain for which noise in all frequency lines has a standard deviation of about 0.3 of full scale.
const mp3Gain = 188

// gain returns the global gain of a granule, which compensates for lines without noise: half of the lines have half the power. Four more steps double
// the amplitude.
func (s *spectrum) gain() uint64 {
	return mp3Gain + uint64(math.Round(2*math.Log2(float64(len(s.lines))/float64(max(1, s.pairs)))))
}

// spectrum holds the frequency lines of one granule of one channel, in pairs of −1, 0, 1.
type spectrum struct {
	pairs, bits int
	lines       [288]uint8 // for each pair: index into mp3Pairs
}

// mp3Pairs are the nine pairs with their code in Huffman table 1 (ISO/IEC 11172-3 table B.7), followed by their sign bits.
var mp3Pairs = [9]struct {
	code uint64
	bits int
}{
	{0b1, 1},                 // 0 0
	{0b0010, 4}, {0b0011, 4}, // 0 ±1
	{0b010, 3}, {0b011, 3}, // ±1 0
	{0b00000, 5}, {0b00001, 5}, {0b00010, 5}, {0b00011, 5}, // ±1 ±1
}

// draw draws pairs until the budget of bits is used up.
func (s *spectrum) draw(source *rand.Rand, budget int) {
	for s.pairs < len(s.lines) && s.bits+5 <= budget {
		p := source.IntN(len(mp3Pairs))
		s.lines[s.pairs] = uint8(p)
		s.bits += mp3Pairs[p].bits
		s.pairs++
	}
}

func (s *spectrum) write(w *bitWriter) {
	for _, p := range s.lines[:s.pairs] {
		w.put(mp3Pairs[p].code, uint(mp3Pairs[p].bits))
	}
}
