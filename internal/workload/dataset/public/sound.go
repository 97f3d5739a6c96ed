package public

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mewkiz/flac"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/media"
)

// longestClip is the maximum length of an audio that is sent, in seconds.
const longestClip = 30

// transcribe is the text sent with an audio.
const transcribe = "Transcribe this audio."

// pcm is decoded audio.
type pcm struct {
	rate, channels int
	samples        []float64 // interleaved channels, -1 to 1
}

func (p *pcm) seconds() float64 { return float64(len(p.samples)/p.channels) / float64(p.rate) }

// sounds builds a prompt from an audio, which is sent as 16-bit WAV.
func sounds(b *builder) (convert, error) {
	return func(r row) error {
		raw := content(r.Row["audio"])
		if raw == "" {
			return b.skip("without sound")
		}
		p, err := decodeSound(raw)
		if err != nil {
			return b.skip("with audio that cannot be read (supported are WAV and FLAC)")
		}
		if p.seconds() > longestClip {
			return b.skip(fmt.Sprintf("longer than %d s", longestClip))
		}
		b.Add(single(r.where, textPart(transcribe), conversation.Part{Kind: conversation.Audio, Blob: b.Made("audio/wav", p.wav())}))
		return nil
	}, nil
}

func decodeSound(raw string) (*pcm, error) {
	switch {
	case strings.HasPrefix(raw, "fLaC"):
		return decodeFLAC(raw)
	case len(raw) >= 12 && raw[:4] == "RIFF" && raw[8:12] == "WAVE":
		return decodeWAV([]byte(raw[12:]))
	}
	return nil, errors.New("neither WAV nor FLAC")
}

func decodeFLAC(raw string) (*pcm, error) {
	s, err := flac.New(strings.NewReader(raw))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := &pcm{rate: int(s.Info.SampleRate), channels: int(s.Info.NChannels)}
	if p.rate == 0 || p.channels == 0 {
		return nil, errors.New("no sample rate or no channel")
	}
	whole := math.Ldexp(1, int(s.Info.BitsPerSample)-1)
	for {
		f, err := s.ParseNext()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range f.Subframes[0].Samples {
			for _, c := range f.Subframes {
				p.samples = append(p.samples, float64(c.Samples[i])/whole)
			}
		}
	}
}

// Encodings of a WAV file (RIFF "fmt " chunk).
const (
	wavInteger    = 1
	wavFloat      = 3
	wavExtensible = 0xfffe // the encoding is the start of a GUID
)

// decodeWAV decodes a RIFF file.
func decodeWAV(b []byte) (*pcm, error) {
	var head, data []byte
	for len(b) >= 8 {
		size := min(uint64(binary.LittleEndian.Uint32(b[4:])), uint64(len(b)-8)) // a truncated stream states a larger size
		switch body := b[8 : 8+size]; string(b[:4]) {
		case "fmt ":
			head = body
		case "data":
			data = body
		}
		b = b[min(uint64(len(b)), 8+size+size&1):]
	}
	if len(head) < 16 || data == nil {
		return nil, errors.New("the fmt or data chunk is missing")
	}
	code := binary.LittleEndian.Uint16(head)
	if code == wavExtensible && len(head) >= 26 {
		code = binary.LittleEndian.Uint16(head[24:])
	}
	p := &pcm{channels: int(binary.LittleEndian.Uint16(head[2:])), rate: int(binary.LittleEndian.Uint32(head[4:]))}
	bits := int(binary.LittleEndian.Uint16(head[14:]))
	sample, err := sampleReader(code, bits)
	if err != nil {
		return nil, err
	}
	if p.rate == 0 || p.channels == 0 {
		return nil, errors.New("no sample rate or no channel")
	}
	step := bits / 8
	for len(data) >= step*p.channels {
		for range p.channels {
			p.samples = append(p.samples, sample(data))
			data = data[step:]
		}
	}
	return p, nil
}

// sampleReader returns a function that reads one sample of an encoding.
func sampleReader(code uint16, bits int) (func([]byte) float64, error) {
	little := binary.LittleEndian
	switch {
	case code == wavInteger && bits == 8:
		return func(b []byte) float64 { return (float64(b[0]) - 128) / 128 }, nil
	case code == wavInteger && bits == 16:
		return func(b []byte) float64 { return float64(int16(little.Uint16(b))) / (1 << 15) }, nil
	case code == wavInteger && bits == 24:
		return func(b []byte) float64 {
			return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		}, nil
	case code == wavInteger && bits == 32:
		return func(b []byte) float64 { return float64(int32(little.Uint32(b))) / (1 << 31) }, nil
	case code == wavFloat && bits == 32:
		return func(b []byte) float64 { return float64(math.Float32frombits(little.Uint32(b))) }, nil
	case code == wavFloat && bits == 64:
		return func(b []byte) float64 { return math.Float64frombits(little.Uint64(b)) }, nil
	}
	return nil, fmt.Errorf("unsupported encoding %d with %d bits", code, bits)
}

// wav encodes the audio as 16-bit WAV, with a full scale of ±32767 like libsndfile.
func (p *pcm) wav() []byte {
	size := 2 * len(p.samples)
	out := media.AppendWAVHead(make([]byte, 0, 44+size), p.rate, p.channels, 16, size)
	for _, s := range p.samples {
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(max(-32768, min(32767, math.RoundToEven(s*32767))))))
	}
	return out
}
