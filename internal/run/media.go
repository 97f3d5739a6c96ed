package run

import (
	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/media"
	"aiperf/internal/endpoint"
	"aiperf/internal/rng"
)

// defaultSide is a picture's width or height in pixels where only the other is given.
const defaultSide = 512

// openMedia opens what makes the media that the endpoint type sends; nil = none.
func openMedia(b *config.Benchmark, d *config.Dataset, e *endpoint.Endpoint, root *rng.Root) (*media.Maker, error) {
	o := media.Options{Spell: b.As, Root: root}
	if i := d.Images; e.Images && i != nil && i.BatchSize > 0 && (i.Enabled() || i.Width == nil && i.Height == nil) {
		o.Images = &media.Images{Batch: i.BatchSize, Width: side(i.Width), Height: side(i.Height), Format: i.Format, Source: i.Source, Sampling: i.SourceSampling}
	}
	if a := d.Audio; e.Audio && a != nil && a.BatchSize > 0 && a.Enabled() {
		o.Audio = &media.Audio{
			Batch: a.BatchSize, Seconds: a.Length.MeanOr(0), StdDev: a.Length.StddevOr0(), Format: a.Format, Depths: a.Depths, Channels: a.Channels,
		}
		for _, rate := range a.SampleRates {
			o.Audio.SampleRates = append(o.Audio.SampleRates, config.Hertz(rate))
		}
	}
	if v := d.Video; e.Video && v != nil && v.BatchSize > 0 && v.Enabled() {
		o.Video = &media.Video{
			Batch: v.BatchSize, Width: *v.Width, Height: *v.Height, Seconds: float64(v.Duration), FPS: v.FPS, Format: v.Format, Codec: v.Codec, Scene: v.SynthType,
		}
		if s := v.Audio; s != nil && s.Channels > 0 {
			o.Video.Sound = &media.Sound{SampleRate: config.Hertz(s.SampleRate), Channels: s.Channels, Depth: s.Depth, Codec: s.Codec}
		}
	}
	if o.Images == nil && o.Audio == nil && o.Video == nil {
		return nil, nil
	}
	return media.New(o)
}

// side is the law of a picture's width or height.
func side(d *config.Distribution) dataset.Distribution {
	if d.MeanOr(0) <= 0 {
		return dataset.Distribution{Mean: defaultSide}
	}
	return law(d)
}
