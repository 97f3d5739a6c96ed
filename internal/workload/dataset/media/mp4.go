package media

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// clip is one video track (ITU-T H.264) with its size in pixels. Every frame is a key frame.
type clip struct {
	sps, pps      []byte
	width, height int
	fps           int
	samples       [][]byte // coded frames, each with its length before it
}

// ticksPerFrame is the number of clock ticks per frame.
const ticksPerFrame = 1000

// matrix is the identity transformation: 16.16 bit fixed-point numbers, the last column 2.30.
var matrix = []uint32{1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30}

// mp4 writes the video as an MP4 file (ISO/IEC 14496-12) with the index before the data.
func (c *clip) mp4() ([]byte, error) {
	size := 0
	for _, s := range c.samples {
		size += len(s)
	}
	if size > math.MaxInt32 {
		return nil, fmt.Errorf("MP4: the video has %d MB; at most %d MB can be written without ffmpeg", size>>20, math.MaxInt32>>20)
	}
	brand := box("ftyp", []byte("isom"), u32(0x200), []byte("isom"), []byte("iso2"), []byte("avc1"), []byte("mp41"))
	index := c.moov(0) // its size does not depend on the offset of the data
	out := slices.Concat(brand, c.moov(len(brand)+len(index)+8), u32(uint32(8+size)), []byte("mdat"))
	return append(out, slices.Concat(c.samples...)...), nil
}

// moov returns the index. data is the offset of the data in the file.
func (c *clip) moov(data int) []byte {
	rate, duration := uint32(c.fps*ticksPerFrame), uint32(len(c.samples)*ticksPerFrame)
	const normal, next = 1 << 16, 2 // speed; number of the next track
	header := full("mvhd", 0, u32(0, 0, rate, duration, normal), u16(1<<8, 0), u32(0, 0), u32(matrix...), u32(0, 0, 0, 0, 0, 0, next))
	const used = 7 // the track is enabled, in the movie and in the preview
	track := full("tkhd", used, u32(0, 0, 1, 0, duration, 0, 0), u16(0, 0, 0, 0), u32(matrix...), u32(uint32(c.width)<<16, uint32(c.height)<<16))
	const language = ('u'-0x60)<<10 | ('n'-0x60)<<5 | ('d' - 0x60) // three letters of five bits each: undetermined
	media := box("mdia",
		full("mdhd", 0, u32(0, 0, rate, duration), u16(language, 0)),
		full("hdlr", 0, u32(0), []byte("vide"), u32(0, 0, 0), []byte("aiperf video\x00")),
		box("minf",
			full("vmhd", 1, u16(0, 0, 0, 0)),
			box("dinf", full("dref", 0, u32(1), full("url ", 1))), // the data is in this file
			c.table(data)))
	return box("moov", header, box("trak", track, media))
}

// table returns the sample table, with all samples in one chunk.
func (c *clip) table(data int) []byte {
	count := uint32(len(c.samples))
	sizes := u32(0, count)
	for _, s := range c.samples {
		sizes = append(sizes, u32(uint32(len(s)))...)
	}
	return box("stbl",
		full("stsd", 0, u32(1), c.avc()),
		full("stts", 0, u32(1, count, ticksPerFrame)),
		full("stsc", 0, u32(1, 1, count, 1)),
		full("stsz", 0, sizes),
		full("stco", 0, u32(1, uint32(data))))
}

// avc returns the description of the samples (ISO/IEC 14496-15), for profiles without extra fields at its end.
func (c *clip) avc() []byte {
	const inch = 72 << 16 // pixels per inch, 16.16 bits
	var name [32]byte
	name[0] = byte(copy(name[1:], "aiperf"))
	const lengths, sets = 0xfc | 3, 0xe0 | 1 // lengths have four bytes; one sequence parameter set
	config := box("avcC", []byte{1, c.sps[1], c.sps[2], c.sps[3], lengths, sets}, u16(uint16(len(c.sps))), c.sps, []byte{1}, u16(uint16(len(c.pps))), c.pps)
	return box("avc1", u16(0, 0, 0, 1), u32(0, 0, 0, 0), u16(uint16(c.width), uint16(c.height)), u32(inch, inch, 0), u16(1), name[:], u16(24, 0xffff), config)
}

// box returns a box: its size, its type and its content.
func box(kind string, parts ...[]byte) []byte {
	content := slices.Concat(parts...)
	return slices.Concat(u32(uint32(8+len(content))), []byte(kind), content)
}

// full returns a box of version 0 with flags.
func full(kind string, flags uint32, parts ...[]byte) []byte {
	return box(kind, slices.Concat(u32(flags), slices.Concat(parts...)))
}

func u32(list ...uint32) (out []byte) {
	for _, v := range list {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

func u16(list ...uint16) (out []byte) {
	for _, v := range list {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return out
}
