package config

import "slices"

func (v *violations) images(path string, i *Images) {
	if i == nil {
		return
	}
	v.addIf(i.BatchSize < 0, path+".batch_size", "must be >= 0, not %d", i.BatchSize)
	v.count(path+".batch_size", i.BatchSize, maxItems, "pictures")
	v.distribution(path+".width", i.Width)
	v.distribution(path+".height", i.Height)
	if i.Enabled() {
		w, h := i.Width.high(DefaultSide), i.Height.high(DefaultSide)
		v.addIf(w*h > maxFrame, path+".width.mean", "and %s: pictures of up to %.0f x %.0f pixels would be made; allowed: up to %d megapixels",
			v.spelling(path+".height.mean"), w, h, maxFrame>>20)
		v.media(path, ".width.mean", i.BatchSize, pixelBytes*i.Width.MeanOr(DefaultSide)*i.Height.MeanOr(DefaultSide), "pictures")
	}
	v.oneOf(path+".format", i.Format, "png", "jpeg", "random")
	v.addIf(i.Source == "", path+".source", "is empty: noise, assets or a directory")
	v.oneOf(path+".source_sampling", i.SourceSampling, "random-with-replacement", "shuffle-cycle", "sequential-cycle")
	v.addIf(i.Source == "noise" && i.SourceSampling != "random-with-replacement", path+".source_sampling",
		"%s is an order of pictures that exist; noise is made anew for every request (see %s)", i.SourceSampling, v.spelling(path+".source"))
}

func (v *violations) audio(path string, a *Audio) {
	if a == nil {
		return
	}
	v.addIf(a.BatchSize < 0, path+".batch_size", "must be >= 0, not %d", a.BatchSize)
	v.count(path+".batch_size", a.BatchSize, maxItems, "sounds")
	v.distribution(path+".length", a.Length)
	v.oneOf(path+".format", a.Format, "wav", "mp3")
	v.addIf(len(a.SampleRates) == 0 || slices.ContainsFunc(a.SampleRates, func(f float64) bool { return !(f > 0 && f <= 384000) }), path+".sample_rates",
		"must be a list of rates above 0, in kHz or Hz, not %v", a.SampleRates)
	v.addIf(len(a.Depths) == 0 || slices.ContainsFunc(a.Depths, func(n int) bool { return !soundDepth(n) }), path+".depths", "must be a list of 8, 16, 24 and 32, not %v", a.Depths)
	v.addIf(a.Channels < 1 || a.Channels > 2, path+".channels", "must be 1 or 2, not %d", a.Channels)
	if len(a.SampleRates) > 0 && len(a.Depths) > 0 && a.Enabled() {
		second := float64(Hertz(slices.Max(a.SampleRates))*slices.Max(a.Depths)/8) * float64(a.Channels)
		v.media(path, ".length.mean", a.BatchSize, a.Length.expected()*second, "sounds")
	}
}

func (v *violations) video(path string, d *Video) {
	if d == nil {
		return
	}
	v.addIf(d.BatchSize < 0, path+".batch_size", "must be >= 0, not %d", d.BatchSize)
	v.addIf(d.Width != nil && *d.Width < 1, path+".width", "must be >= 1, not %d", Value(d.Width))
	v.addIf(d.Height != nil && *d.Height < 1, path+".height", "must be >= 1, not %d", Value(d.Height))
	v.addIf(d.Width != nil && d.Height == nil, path+".width", "needs %s: a clip has both", v.spelling(path+".height"))
	v.addIf(d.Height != nil && d.Width == nil, path+".height", "needs %s: a clip has both", v.spelling(path+".width"))
	v.addIf(!(d.Duration > 0) || !measure(float64(d.Duration)), path+".duration", "must be > 0 and finite, not %v", float64(d.Duration))
	v.addIf(d.FPS < 1, path+".fps", "must be >= 1, not %d", d.FPS)
	v.count(path+".batch_size", d.BatchSize, maxItems, "clips")
	if d.Enabled() {
		v.media(path, ".width", d.BatchSize, pixelBytes*float64(*d.Width)*float64(*d.Height)*max(1, float64(d.Duration)*float64(d.FPS)), "clips")
	}
	v.oneOf(path+".format", d.Format, "webm", "mp4")
	v.addIf(d.Codec == "", path+".codec", "is empty")
	v.oneOf(path+".synth_type", d.SynthType, "moving_shapes", "grid_clock", "noise")
	a := d.Audio
	if a == nil {
		return
	}
	v.addIf(a.Channels < 0 || a.Channels > 2, path+".audio.channels", "must be 0, 1 or 2, not %d", a.Channels)
	hz := Hertz(a.SampleRate)
	v.addIf(hz < 8000 || hz > 96000, path+".audio.sample_rate", "must be 8 to 96 kHz, not %v", a.SampleRate)
	v.addIf(!soundDepth(a.Depth), path+".audio.depth", "must be one of 8, 16, 24, 32, not %d", a.Depth)
	if a.Codec != "" {
		v.oneOf(path+".audio.codec", a.Codec, "aac", "libvorbis", "libopus")
		v.addIf(a.Channels == 0, path+".audio.codec", "needs %s above 0: the clip has no sound track", v.spelling(path+".audio.channels"))
	}
}

func soundDepth(bits int) bool { return bits == 8 || bits == 16 || bits == 24 || bits == 32 }
