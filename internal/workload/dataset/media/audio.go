package media

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
	"aiperf/internal/workload/conversation"
)

// Audio formats.
const (
	formatWAV = "wav"
	formatMP3 = "mp3"
)

const (
	// minSeconds is the length of the shortest audio.
	minSeconds = 0.01
	// noiseDeviation is the standard deviation of the noise; full scale is 1.
	noiseDeviation = 0.3
	// maxSamples is the maximum size of one audio: an hour of 96 kHz stereo.
	maxSamples = 3600 * 96000 * 2
	// maxDraws is the maximum number of draws for a length that is long enough.
	maxDraws = 10000
)

// depths are the possible bits per WAV sample.
var depths = []int{8, 16, 24, 32}

// CheckDepth returns an error for an unsupported number of bits per sample.
func CheckDepth(bits int) error {
	if !slices.Contains(depths, bits) {
		return fmt.Errorf("unsupported bit depth %d: supported are 8, 16, 24, 32", bits)
	}
	return nil
}

// audioDraws draws and generates audio.
type audioDraws struct {
	Audio
	lengths *rng.Stream
	formats *rng.Stream
	data    uint64 // seed that the seed of every audio is derived from
	drawn   uint64
}

func newAudioDraws(o *Audio, root *rng.Root, as setting.Spell) (*audioDraws, error) {
	if o.Seconds < minSeconds {
		return nil, fmt.Errorf("%s %g: must be at least %g seconds", as.As("datasets.main.audio.length.mean"), o.Seconds, minSeconds)
	}
	for _, d := range o.Depths {
		if err := CheckDepth(d); err != nil {
			return nil, fmt.Errorf("%s: %w", as.As("datasets.main.audio.depths"), err)
		}
	}
	for _, hz := range o.SampleRates {
		rates := as.As("datasets.main.audio.sample_rates")
		switch {
		case hz < 1:
			return nil, fmt.Errorf("%s: the sample rate %d Hz must be at least 1", rates, hz)
		case o.Format == formatMP3 && mp3Rate(hz) == nil:
			return nil, fmt.Errorf("%s: MP3 does not support a sample rate of %d Hz; allowed are %s", rates, hz, mp3RateList())
		case o.Seconds*float64(hz*o.Channels) > maxSamples:
			return nil, fmt.Errorf("%s %g: the audio would have more than %d samples; use a shorter length or a lower sample rate", as.As("datasets.main.audio.length.mean"), o.Seconds, maxSamples)
		}
	}
	if o.Format != formatWAV && o.Format != formatMP3 {
		return nil, fmt.Errorf("%s %q: must be one of wav, mp3", as.As("datasets.main.audio.format"), o.Format)
	}
	if len(o.Depths) == 0 || len(o.SampleRates) == 0 || o.Channels < 1 || o.Channels > 2 {
		return nil, fmt.Errorf("%s, %s, %s: at least one depth, one rate, and 1 or 2 channels are needed", as.As("datasets.main.audio.depths"),
			as.As("datasets.main.audio.sample_rates"), as.As("datasets.main.audio.channels"))
	}
	return &audioDraws{Audio: *o, lengths: root.Stream("dataset.audio.duration"), formats: root.Stream("dataset.audio.format"), data: root.Child("dataset.audio.data")}, nil
}

// draw draws the next audio: length, sample rate, depth.
func (l *audioDraws) draw() Item {
	seconds := l.length()
	hz := l.SampleRates[l.formats.Numpy().Integers(0, len(l.SampleRates))]
	bits := l.Depths[l.formats.Numpy().Integers(0, len(l.Depths))]
	l.drawn++
	return Item{kind: conversation.Audio, format: l.Format, a: int32(hz), b: int32(bits), n: int32(max(1, int(seconds*float64(hz)))), at: l.drawn}
}

// length draws lengths in s until one is long enough.
func (l *audioDraws) length() float64 {
	switch {
	case l.Shape != nil:
		return max(minSeconds, l.Shape.Draw(l.lengths))
	case l.StdDev <= 0:
		return l.Seconds
	}
	for range maxDraws {
		if s := l.lengths.Gauss(l.Seconds, l.StdDev); s >= minSeconds && s <= 1000*l.Seconds {
			return s
		}
	}
	return l.Seconds
}

// make generates the audio of an item.
func (l *audioDraws) make(it Item) ([]byte, error) {
	source := rand.New(rng.NewNumpy(rng.ChildSeed(l.data, strconv.FormatUint(it.at, 10))))
	if l.Format == formatMP3 {
		return noiseMP3(source, int(it.n), int(it.a), l.Channels), nil
	}
	return noiseWAV(source, int(it.n), int(it.a), l.Channels, int(it.b)), nil
}

// AppendWAVHead appends the RIFF header (44 bytes) of plain PCM: size bytes of samples, with the given bits per sample and interleaved channels.
func AppendWAVHead(out []byte, hz, channels, bits, size int) []byte {
	width := bits / 8
	out = append(out, "RIFF"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(36+size))
	out = append(out, "WAVEfmt \x10\x00\x00\x00\x01\x00"...)
	out = binary.LittleEndian.AppendUint16(out, uint16(channels))
	out = binary.LittleEndian.AppendUint32(out, uint32(hz))
	out = binary.LittleEndian.AppendUint32(out, uint32(hz*channels*width))
	out = binary.LittleEndian.AppendUint16(out, uint16(channels*width))
	out = binary.LittleEndian.AppendUint16(out, uint16(bits))
	out = append(out, "data"...)
	return binary.LittleEndian.AppendUint32(out, uint32(size))
}

// noiseWAV generates a WAV file of n samples per channel. Samples of 8 bits are unsigned around 128. Wider ones are signed, little-endian.
func noiseWAV(source *rand.Rand, n, hz, channels, bits int) []byte {
	width := bits / 8
	size := n * channels * width
	out := AppendWAVHead(make([]byte, 0, 44+size), hz, channels, bits, size)
	full := float64(int64(1)<<(bits-1) - 1)
	for range n * channels {
		v := int32(min(1, max(-1, noiseDeviation*source.NormFloat64())) * full)
		switch width {
		case 1:
			out = append(out, byte(v+128))
		case 2:
			out = binary.LittleEndian.AppendUint16(out, uint16(v))
		case 3:
			out = append(out, byte(v), byte(v>>8), byte(v>>16))
		default:
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	}
	return out
}

func mp3RateList() string {
	var list []string
	for i := range mp3Rates {
		list = append(list, strconv.Itoa(mp3Rates[i].hz))
	}
	return strings.Join(list, ", ") + " Hz"
}
