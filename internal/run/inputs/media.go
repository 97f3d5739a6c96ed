package inputs

import (
	"context"

	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/media"
)

// openMedia creates the generator of the media that the endpoint type sends; nil if it sends none.
func openMedia(ctx context.Context, b *config.Benchmark, d *config.Dataset, e *endpoint.Endpoint, root *rng.Root) (*media.Maker, error) {
	o := media.Options{Spell: b.As, Root: root}
	if e.Images {
		o.Images = imageOptions(d.Images)
	}
	if e.Audio {
		o.Audio = audioOptions(d.Audio)
	}
	if e.Video {
		o.Video = videoOptions(d.Video)
	}
	if o.Images == nil && o.Audio == nil && o.Video == nil {
		return nil, nil
	}
	return media.New(ctx, o)
}

// imageOptions returns the options for the pictures of a turn; nil = none.
func imageOptions(i *config.Images) *media.Images {
	if !i.Enabled() || i.BatchSize <= 0 {
		return nil
	}
	return &media.Images{Batch: i.BatchSize, Width: sideLength(i.Width), Height: sideLength(i.Height), Format: i.Format, Source: i.Source, Sampling: i.SourceSampling}
}

// audioOptions returns the options for the sounds of a turn; nil = none.
func audioOptions(a *config.Audio) *media.Audio {
	if a == nil || a.BatchSize <= 0 || !a.Enabled() {
		return nil
	}
	o := &media.Audio{
		Batch: a.BatchSize, Seconds: a.Length.MeanOr(0), StdDev: a.Length.StddevOr0(), Shape: shape(a.Length), Format: a.Format, Depths: a.Depths, Channels: a.Channels,
	}
	for _, rate := range a.SampleRates {
		o.SampleRates = append(o.SampleRates, config.Hertz(rate))
	}
	return o
}

// videoOptions returns the options for the videos of a turn; nil = none.
func videoOptions(v *config.Video) *media.Video {
	if v == nil || v.BatchSize <= 0 || !v.Enabled() {
		return nil
	}
	o := &media.Video{
		Batch: v.BatchSize, Width: *v.Width, Height: *v.Height, Seconds: float64(v.Duration), FPS: v.FPS, Format: v.Format, Codec: v.Codec, Scene: v.SynthType,
	}
	if s := v.Audio; s != nil && s.Channels > 0 {
		o.Sound = &media.Sound{SampleRate: config.Hertz(s.SampleRate), Channels: s.Channels, Depth: s.Depth, Codec: s.Codec}
	}
	return o
}

// sideLength returns the distribution of a picture's width or height.
func sideLength(d *config.Distribution) dataset.Distribution {
	if d == nil {
		return dataset.Distribution{Mean: config.DefaultSide}
	}
	return distribution(d)
}
