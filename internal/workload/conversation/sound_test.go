package conversation

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"testing"
)

// wave is a WAV file: mono, 16 bit; claimed is the size that its header says.
func wave(hz, samples int, claimed uint32, extra bool) []byte {
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a buffer takes all
	b.WriteString("RIFF????WAVE")
	if extra {
		b.WriteString("LIST")
		put(uint32(3))
		b.WriteString("abc\x00")
	}
	b.WriteString("fmt ")
	for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(hz), uint32(2 * hz), uint16(2), uint16(16)} {
		put(v)
	}
	b.WriteString("data")
	put(claimed)
	b.Write(make([]byte, 2*samples))
	return b.Bytes()
}

// TestSoundSeconds checks lengths against what the files were made with.
func TestSoundSeconds(t *testing.T) {
	frame := func(head string, size int) []byte { return append([]byte(head), make([]byte, size-len(head))...) }
	cbr := bytes.Repeat(frame("\xff\xfb\x90\x00", 417), 10) // MPEG 1, 128 kbit/s, 44.1 kHz
	xing := append(frame("\xff\xfb\x90\x00\x00\x00\x00\x00Xing", 417), cbr...)
	tagged := append([]byte("ID3\x03\x00\x00\x00\x00\x00\x05tag.."), cbr...)
	low := bytes.Repeat(frame("\xff\xf3\x40\x00", 32*72000/22050), 4) // MPEG 2, 32 kbit/s, 22.05 kHz
	for name, c := range map[string]struct {
		content []byte
		want    float64
	}{
		"wave": {wave(8000, 4000, 8000, false), 0.5}, "odd chunk before": {wave(16000, 4000, 8000, true), 0.25}, "streamed": {wave(8000, 800, 0xffffffff, false), 0.1},
		"cbr": {cbr, 10 * 1152 / 44100.0}, "table": {xing, 10 * 1152 / 44100.0}, "tag": {tagged, 10 * 1152 / 44100.0}, "cut": {cbr[:417*9+5], 9 * 1152 / 44100.0},
		"mpeg 2": {low, 4 * 576 / 22050.0}, "nothing": {nil, 0}, "text": {[]byte("no sound at all"), 0}, "head": {[]byte("RIFF????WAVEfmt "), 0},
	} {
		blob := Authored(Audio, "wav,"+base64.StdEncoding.EncodeToString(c.content))
		if got := blob.Seconds(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v s, want %v", name, got, c.want)
		}
	}
	turn := Turn{Parts: []Part{{Text: "a"}, {Kind: Audio, Blob: Authored(Audio, "http://h/a.wav")}}}
	if got := turn.AudioSeconds(); got != 0 {
		t.Errorf("an address has %v s", got)
	}
}

func FuzzSoundSeconds(f *testing.F) {
	f.Add(wave(8000, 10, 20, true))
	f.Add([]byte("ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if got := soundSeconds(content); got < 0 || math.IsNaN(got) {
			t.Errorf("%v s", got)
		}
	})
}
