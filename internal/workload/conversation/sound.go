package conversation

import (
	"bytes"
	"encoding/binary"
)

// AudioSeconds returns the length of the turn's first clip in s; 0 = no clip, or unknown length.
func (t *Turn) AudioSeconds() float64 {
	for i := range t.Parts {
		if p := &t.Parts[i]; p.Kind == Audio && p.Blob != nil {
			return p.Blob.Seconds()
		}
	}
	return 0
}

// Seconds returns the length of a clip in s, and computes it only once; 0 = unknown.
func (b *Blob) Seconds() float64 {
	if !b.Inline() {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.timed {
		b.timed = true
		content, err := b.raw()
		if err == nil {
			b.seconds = soundSeconds(content)
		}
	}
	return b.seconds
}

// soundSeconds reads the length from the headers of WAV and MP3; 0 = another format, or invalid.
func soundSeconds(content []byte) float64 {
	if len(content) >= 12 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WAVE" {
		return waveSeconds(content[12:])
	}
	return mp3Seconds(content)
}

// waveSeconds divides the size of the data by the bytes per second. A size beyond the end of the content, as streams write it, is cut to the actual
// size.
func waveSeconds(chunks []byte) float64 {
	rate := uint32(0)
	for len(chunks) >= 8 {
		id, size := string(chunks[:4]), int(binary.LittleEndian.Uint32(chunks[4:]))
		chunks = chunks[8:]
		switch {
		case id == "fmt " && len(chunks) >= 16:
			rate = binary.LittleEndian.Uint32(chunks[8:])
		case id == "data" && rate > 0:
			return float64(min(size, len(chunks))) / float64(rate)
		}
		if size += size & 1; size > len(chunks) {
			break
		}
		chunks = chunks[size:]
	}
	return 0
}

// Tables of MPEG audio headers, layer III: kbit/s by index for version 1 and for 2 and 2.5, Hz of version 1 by index.
var (
	mp3Rates = [2][15]int{
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
	mp3Hertz = [3]int{44100, 48000, 32000}
)

// mp3Seconds sums the frames after an ID3 tag. A first frame with a table of contents (Xing, Info, VBRI) does not count as sound.
func mp3Seconds(b []byte) float64 {
	if len(b) >= 10 && string(b[:3]) == "ID3" {
		size := int(b[6]&0x7f)<<21 | int(b[7]&0x7f)<<14 | int(b[8]&0x7f)<<7 | int(b[9]&0x7f)
		b = b[min(10+size, len(b)):]
	}
	total, first := 0.0, true
	for len(b) >= 4 {
		size, seconds := mp3Frame(b)
		if size == 0 {
			break
		}
		frame := b[:min(size, len(b))]
		table := first && (bytes.Contains(frame, []byte("Xing")) || bytes.Contains(frame, []byte("Info")) || bytes.Contains(frame, []byte("VBRI")))
		if !table && size <= len(b) {
			total += seconds
		}
		first = false
		b = b[len(frame):]
	}
	return total
}

// mp3Frame returns the size in bytes and the length in s of the frame at the start of b; 0 = not a frame.
func mp3Frame(b []byte) (size int, seconds float64) {
	if b[0] != 0xff || b[1]&0xe0 != 0xe0 || b[1]&0x06 != 0x02 {
		return 0, 0
	}
	version, rate, hertz := b[1]>>3&3, int(b[2]>>4), int(b[2]>>2&3) // version 3 = MPEG 1, 2 = MPEG 2, 0 = MPEG 2.5
	if version == 1 || rate == 0 || rate == 15 || hertz == 3 {
		return 0, 0
	}
	hz, samples, column := mp3Hertz[hertz], 1152, 0
	if version != 3 {
		hz, samples, column = hz/2, 576, 1
	}
	if version == 0 {
		hz /= 2
	}
	size = samples/8*mp3Rates[column][rate]*1000/hz + int(b[2]>>1&1)
	return size, float64(samples) / float64(hz)
}
