package media

import (
	"bytes"
	"testing"

	"github.com/Eyevinn/mp4ff/mp4"
)

// TestMP4AgainstTheLibrary compares a video byte for byte with the output of a library.
func TestMP4AgainstTheLibrary(t *testing.T) {
	for _, size := range [][2]int{{40, 34}, {64, 48}, {41, 35}, {640, 480}} {
		coder := &pcmCoder{width: size[0], height: size[1]}
		right, bottom := coder.cropped()
		c := &clip{
			sps: coder.sps(24), pps: coder.pps(), width: coder.columns()*macroblock - right, height: coder.rows()*macroblock - bottom, fps: 24,
			samples: [][]byte{{0, 0, 0, 2, 0x65, 1}, {0, 0, 0, 3, 0x65, 1, 2}, {0, 0, 0, 1, 0x65}},
		}
		got, err := c.mp4()
		if err != nil {
			t.Fatal(err)
		}
		if want := libraryMP4(t, c); !bytes.Equal(got, want) {
			t.Errorf("%v:\n% x\nwant\n% x", size, got, want)
		}
	}
}

// libraryMP4 writes a clip with the library; it takes width and height from the sequence parameter set.
func libraryMP4(t *testing.T, c *clip) []byte {
	t.Helper()
	trak := mp4.CreateEmptyTrak(1, uint32(c.fps*ticksPerFrame), "video", "und")
	if err := trak.SetAVCDescriptor("avc1", [][]byte{c.sps}, [][]byte{c.pps}, true); err != nil {
		t.Fatal(err)
	}
	moov := mp4.NewMoovBox()
	header := mp4.CreateMvhd()
	header.Timescale, header.NextTrackID = uint32(c.fps*ticksPerFrame), 2
	moov.AddChild(header)
	moov.AddChild(trak)
	duration := uint64(len(c.samples) * ticksPerFrame)
	header.Duration, trak.Tkhd.Duration, trak.Mdia.Mdhd.Duration = duration, duration, duration
	trak.Mdia.Hdlr.Name = "aiperf video"
	table := trak.Mdia.Minf.Stbl
	table.Stsd.AvcX.CompressorName = "aiperf"
	table.Stts.SampleCount, table.Stts.SampleTimeDelta = []uint32{uint32(len(c.samples))}, []uint32{ticksPerFrame}
	if err := table.Stsc.AddEntry(1, uint32(len(c.samples)), 1); err != nil {
		t.Fatal(err)
	}
	table.Stsz.SampleNumber = uint32(len(c.samples))
	for _, s := range c.samples {
		table.Stsz.SampleSize = append(table.Stsz.SampleSize, uint32(len(s)))
	}
	table.Stco.ChunkOffset = []uint32{0}
	brand := mp4.NewFtyp("isom", 0x200, []string{"isom", "iso2", "avc1", "mp41"})
	table.Stco.ChunkOffset[0] = uint32(brand.Size() + moov.Size() + 8)
	var out bytes.Buffer
	for _, b := range []mp4.Box{brand, moov, &mp4.MdatBox{DataParts: c.samples}} {
		if err := b.Encode(&out); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
