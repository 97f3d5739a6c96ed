package media

import (
	"bytes"
	"fmt"

	"github.com/Eyevinn/mp4ff/mp4"
)

// writeMP4 puts coded pictures of one track into an MP4 file (ISO/IEC 14496-12) whose index stands in front. Every picture is a key frame.
func writeMP4(sps, pps []byte, samples [][]byte, fps int) ([]byte, error) {
	const ticks = 1000 // of a frame
	trak := mp4.CreateEmptyTrak(1, uint32(fps*ticks), "video", "und")
	if err := trak.SetAVCDescriptor("avc1", [][]byte{sps}, [][]byte{pps}, true); err != nil {
		return nil, err
	}
	moov := mp4.NewMoovBox()
	header := mp4.CreateMvhd()
	header.Timescale, header.NextTrackID = uint32(fps*ticks), 2
	moov.AddChild(header)
	moov.AddChild(trak)
	duration := uint64(len(samples) * ticks)
	header.Duration, trak.Tkhd.Duration, trak.Mdia.Mdhd.Duration = duration, duration, duration

	table := trak.Mdia.Minf.Stbl
	table.Stts.SampleCount, table.Stts.SampleTimeDelta = []uint32{uint32(len(samples))}, []uint32{ticks}
	if err := table.Stsc.AddEntry(1, uint32(len(samples)), 1); err != nil {
		return nil, err
	}
	table.Stsz.SampleNumber = uint32(len(samples))
	for _, s := range samples {
		table.Stsz.SampleSize = append(table.Stsz.SampleSize, uint32(len(s)))
	}
	table.Stco.ChunkOffset = []uint32{0}
	brand := mp4.NewFtyp("isom", 0x200, []string{"isom", "iso2", "avc1", "mp41"})
	data := &mp4.MdatBox{DataParts: samples}
	table.Stco.ChunkOffset[0] = uint32(brand.Size() + moov.Size() + 8)
	var out bytes.Buffer
	for _, box := range []mp4.Box{brand, moov, data} {
		if err := box.Encode(&out); err != nil {
			return nil, fmt.Errorf("MP4: %w", err)
		}
	}
	return out.Bytes(), nil
}
