package config

import "aiperf/internal/setting"

// Images describes generated pictures of a turn.
type Images struct {
	BatchSize      int           `yaml:"batch_size"`
	Width          *Distribution `yaml:"width,omitempty"`  // pixels
	Height         *Distribution `yaml:"height,omitempty"` // pixels
	Format         string        `yaml:"format"`
	Source         string        `yaml:"source"`
	SourceSampling string        `yaml:"source_sampling"`
}

// Audio describes generated sound of a turn.
type Audio struct {
	BatchSize   int           `yaml:"batch_size"`
	Length      *Distribution `yaml:"length,omitempty"` // seconds
	Format      string        `yaml:"format"`
	SampleRates []float64     `yaml:"sample_rates"` // kHz
	Depths      []int         `yaml:"depths"`       // bits
	Channels    int           `yaml:"channels"`
}

// Video describes generated clips of a turn.
type Video struct {
	BatchSize int         `yaml:"batch_size"`
	Duration  Seconds     `yaml:"duration"`
	FPS       int         `yaml:"fps"`
	Width     *int        `yaml:"width,omitempty"`  // pixels
	Height    *int        `yaml:"height,omitempty"` // pixels
	Format    string      `yaml:"format"`
	Codec     string      `yaml:"codec"`
	SynthType string      `yaml:"synth_type"`
	Audio     *VideoAudio `yaml:"audio,omitempty"`
}

// VideoAudio is the sound track of a clip.
type VideoAudio struct {
	SampleRate float64 `yaml:"sample_rate"` // kHz
	Channels   int     `yaml:"channels"`
	Codec      string  `yaml:"codec,omitempty"`
	Depth      int     `yaml:"depth"` // bits
}

// Rankings describes generated queries and passages.
type Rankings struct {
	Passages      *Distribution `yaml:"passages,omitempty"`
	PassageTokens *Distribution `yaml:"passage_tokens,omitempty"`
	QueryTokens   *Distribution `yaml:"query_tokens,omitempty"`
}

var audioInputRows = group("Audio Input", []setting.Row{
	{Flags: []string{"--audio-batch-size", "--batch-size-audio"}, Key: "datasets.main.audio.batch_size", Kind: setting.Int, Bounds: ">= 0", Default: "1", NotBuilt: true, Help: "sounds in one request"},
	{Flags: []string{"--audio-length-mean"}, Key: "datasets.main.audio.length.mean", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Help: "mean length of a sound, in s"},
	{Flags: []string{"--audio-length-stddev"}, Key: "datasets.main.audio.length.stddev", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Help: "spread of that length, in s"},
	{Flags: []string{"--audio-format"}, Key: "datasets.main.audio.format", Kind: setting.Enum, Choices: []string{"wav", "mp3"}, Default: "wav", NotBuilt: true, Help: "file format of sounds"},
	{Flags: []string{"--audio-depths"}, Key: "datasets.main.audio.depths", Kind: setting.Int, Bounds: "> 0", Default: "16", List: true, NotBuilt: true, Help: "bit depths to choose from"},
	{Flags: []string{"--audio-sample-rates"}, Key: "datasets.main.audio.sample_rates", Kind: setting.Float, Bounds: "> 0", Default: "16.0", List: true, NotBuilt: true, Help: "sample rates to choose from, in kHz"},
	{Flags: []string{"--audio-num-channels"}, Key: "datasets.main.audio.channels", Kind: setting.Int, Bounds: ">= 1, <= 2", Default: "1", NotBuilt: true, Help: "channels: 1 mono, 2 stereo"},
})

var imageInputRows = group("Image Input", []setting.Row{
	{Flags: []string{"--image-width-mean"}, Key: "datasets.main.images.width.mean", Kind: setting.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Help: "mean width of a picture, in pixels"},
	{Flags: []string{"--image-width-stddev"}, Key: "datasets.main.images.width.stddev", Kind: setting.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Help: "spread of the width"},
	{Flags: []string{"--image-height-mean"}, Key: "datasets.main.images.height.mean", Kind: setting.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Help: "mean height of a picture, in pixels"},
	{Flags: []string{"--image-height-stddev"}, Key: "datasets.main.images.height.stddev", Kind: setting.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Help: "spread of the height"},
	{Flags: []string{"--image-batch-size", "--batch-size-image"}, Key: "datasets.main.images.batch_size", Kind: setting.Int, Bounds: ">= 0", Default: "1", NotBuilt: true, Help: "pictures in one request"},
	{Flags: []string{"--image-format"}, Key: "datasets.main.images.format", Kind: setting.Enum, Choices: []string{"png", "jpeg", "random"}, Default: "png", NotBuilt: true, Help: "file format of pictures"},
	{Flags: []string{"--image-source"}, Key: "datasets.main.images.source", Kind: setting.Text, Default: "noise", NotBuilt: true, Help: "noise, the bundled assets, or a directory of pictures"},
	{Flags: []string{"--image-source-sampling"}, Key: "datasets.main.images.source_sampling", Kind: setting.Enum, Choices: []string{"random-with-replacement", "shuffle-cycle", "sequential-cycle"}, Default: "random-with-replacement", NotBuilt: true, Help: "order in which source pictures are taken"},
})

var videoInputRows = group("Video Input", []setting.Row{
	{Flags: []string{"--video-batch-size", "--batch-size-video"}, Key: "datasets.main.video.batch_size", Kind: setting.Int, Bounds: ">= 0", Default: "1", NotBuilt: true, Help: "clips in one request"},
	{Flags: []string{"--video-duration"}, Key: "datasets.main.video.duration", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "5", NotBuilt: true, Help: "length of a clip, in s"},
	{Flags: []string{"--video-fps"}, Key: "datasets.main.video.fps", Kind: setting.Int, Bounds: ">= 1", Default: "4", NotBuilt: true, Help: "frames per second"},
	{Flags: []string{"--video-width"}, Key: "datasets.main.video.width", Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "width of a clip, in pixels"},
	{Flags: []string{"--video-height"}, Key: "datasets.main.video.height", Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "height of a clip, in pixels"},
	{Flags: []string{"--video-synth-type"}, Key: "datasets.main.video.synth_type", Kind: setting.Enum, Choices: []string{"moving_shapes", "grid_clock", "noise"}, Default: "moving_shapes", NotBuilt: true, Help: "what a clip shows"},
	{Flags: []string{"--video-format"}, Key: "datasets.main.video.format", Kind: setting.Enum, Choices: []string{"mp4", "webm"}, Default: "webm", NotBuilt: true, Help: "container of clips"},
	{Flags: []string{"--video-codec"}, Key: "datasets.main.video.codec", Kind: setting.Text, Default: "libvpx-vp9", NotBuilt: true, Help: "encoder of clips"},
	{Flags: []string{"--video-audio-sample-rate"}, Key: "datasets.main.video.audio.sample_rate", Kind: setting.Float, Bounds: ">= 8, <= 96000", Default: "44100", NotBuilt: true, Help: "sample rate of the sound track, in Hz or kHz"},
	{Flags: []string{"--video-audio-num-channels"}, Key: "datasets.main.video.audio.channels", Kind: setting.Int, Bounds: ">= 0, <= 2", Default: "0", NotBuilt: true, Help: "channels of the sound track; 0 is none"},
	{Flags: []string{"--video-audio-codec"}, Key: "datasets.main.video.audio.codec", Kind: setting.Enum, Choices: []string{"aac", "libvorbis", "libopus"}, Default: "by container", NotBuilt: true, Help: "encoder of the sound track"},
	{Flags: []string{"--video-audio-depth"}, Key: "datasets.main.video.audio.depth", Kind: setting.Enum, Choices: []string{"8", "16", "24", "32"}, Default: "16", NotBuilt: true, Help: "bit depth of the sound track"},
})
