package config

import (
	"math"

	"aiperf/internal/base/setting"
)

// Images describes generated images of a turn.
type Images struct {
	BatchSize      int           `yaml:"batch_size"`
	Width          *Distribution `yaml:"width,omitempty"`  // pixels
	Height         *Distribution `yaml:"height,omitempty"` // pixels
	Format         string        `yaml:"format"`
	Source         string        `yaml:"source"`
	SourceSampling string        `yaml:"source_sampling"`
}

// Audio describes generated sounds of a turn.
type Audio struct {
	BatchSize   int           `yaml:"batch_size"`
	Length      *Distribution `yaml:"length,omitempty"` // seconds
	Format      string        `yaml:"format"`
	SampleRates []float64     `yaml:"sample_rates"` // kHz; values above 96 are Hz
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
	SampleRate float64 `yaml:"sample_rate"` // kHz; values above 96 are Hz
	Channels   int     `yaml:"channels"`
	Codec      string  `yaml:"codec,omitempty"`
	Depth      int     `yaml:"depth"` // bits
}

// DefaultImages returns the default properties of images; their number is 0.
func DefaultImages() *Images {
	return &Images{Format: "png", Source: "noise", SourceSampling: "random-with-replacement"}
}

// DefaultAudio returns the default properties of sounds; their number is 0.
func DefaultAudio() *Audio {
	return &Audio{Format: "wav", SampleRates: []float64{16}, Depths: []int{16}, Channels: 1}
}

// DefaultVideo returns the default properties of clips; their number is 0.
func DefaultVideo() *Video {
	return &Video{Duration: 5, FPS: 4, Format: "webm", Codec: "libvpx-vp9", SynthType: "moving_shapes"}
}

// DefaultVideoAudio returns the default properties of a sound track; it has no channels.
func DefaultVideoAudio() *VideoAudio { return &VideoAudio{SampleRate: 44.1, Depth: 16} }

// DefaultSide is the default width and height of images, in pixels.
const DefaultSide = 512

// Enabled reports whether images have a size. A missing side is DefaultSide; a mean of 0 switches images off.
func (i *Images) Enabled() bool {
	return i != nil && i.Width.MeanOr(DefaultSide) > 0 && i.Height.MeanOr(DefaultSide) > 0
}

// Enabled reports whether sounds have a length.
func (a *Audio) Enabled() bool { return a != nil && a.Length.MeanOr(0) > 0 }

// Enabled reports whether clips have a size.
func (v *Video) Enabled() bool { return v != nil && v.Width != nil && v.Height != nil }

// Hertz converts a sample rate to Hz. Rates up to 96 are in kHz, higher ones in Hz.
func Hertz(rate float64) int {
	if rate > 96 {
		return int(math.Round(rate))
	}
	return int(math.Round(rate * 1000))
}

// Kilohertz converts every sample rate of sounds and clips to kHz. Files and flags may also use Hz.
func (d *Dataset) Kilohertz() {
	if a := d.Audio; a != nil {
		for i, rate := range a.SampleRates {
			a.SampleRates[i] = kilohertz(rate)
		}
	}
	if v := d.Video; v != nil && v.Audio != nil {
		v.Audio.SampleRate = kilohertz(v.Audio.SampleRate)
	}
}

func kilohertz(rate float64) float64 {
	if rate > 96 {
		return rate / 1000
	}
	return rate
}

// Rankings describes generated queries and passages.
type Rankings struct {
	Passages      *Distribution `yaml:"passages,omitempty"`
	PassageTokens *Distribution `yaml:"passage_tokens,omitempty"`
	QueryTokens   *Distribution `yaml:"query_tokens,omitempty"`
}

var audioInputRows = group("Audio Input", []setting.Row{
	{Flags: []string{"--audio-batch-size", "--batch-size-audio"}, Key: "datasets.main.audio.batch_size", Kind: setting.Int, Bounds: ">= 0", Default: "1", Help: "number of audio clips per request"},
	{Flags: []string{"--audio-length-mean"}, Key: "datasets.main.audio.length.mean", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "mean length of an audio clip, in s"},
	{Flags: []string{"--audio-length-stddev"}, Key: "datasets.main.audio.length.stddev", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "standard deviation of the audio length, in s"},
	{Flags: []string{"--audio-format"}, Key: "datasets.main.audio.format", Kind: setting.Enum, Choices: []string{"wav", "mp3"}, Default: "wav", Help: "file format of audio clips"},
	{Flags: []string{"--audio-depths"}, Key: "datasets.main.audio.depths", Kind: setting.Int, Bounds: "> 0", Default: "16", List: true, Help: "bit depths to choose from"},
	{Flags: []string{"--audio-sample-rates"}, Key: "datasets.main.audio.sample_rates", Kind: setting.Float, Bounds: "> 0", Default: "16.0", List: true, Help: "sample rates to choose from, in kHz"},
	{Flags: []string{"--audio-num-channels"}, Key: "datasets.main.audio.channels", Kind: setting.Int, Bounds: ">= 1, <= 2", Default: "1", Help: "number of channels: 1 = mono, 2 = stereo"},
})

var imageInputRows = group("Image Input", []setting.Row{
	{Flags: []string{"--image-width-mean"}, Key: "datasets.main.images.width.mean", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "mean width of an image, in pixels"},
	{Flags: []string{"--image-width-stddev"}, Key: "datasets.main.images.width.stddev", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "standard deviation of the width, in pixels"},
	{Flags: []string{"--image-height-mean"}, Key: "datasets.main.images.height.mean", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "mean height of an image, in pixels"},
	{Flags: []string{"--image-height-stddev"}, Key: "datasets.main.images.height.stddev", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "standard deviation of the height, in pixels"},
	{Flags: []string{"--image-batch-size", "--batch-size-image"}, Key: "datasets.main.images.batch_size", Kind: setting.Int, Bounds: ">= 0", Default: "1", Help: "number of images per request"},
	{Flags: []string{"--image-format"}, Key: "datasets.main.images.format", Kind: setting.Enum, Choices: []string{"png", "jpeg", "random"}, Default: "png", Help: "file format of images"},
	{Flags: []string{"--image-source"}, Key: "datasets.main.images.source", Kind: setting.Text, Files: true, Default: "noise", Help: "source of images: noise, bundled assets or a directory"},
	{Flags: []string{"--image-source-sampling"}, Key: "datasets.main.images.source_sampling", Kind: setting.Enum, Choices: []string{"random-with-replacement", "shuffle-cycle", "sequential-cycle"}, Default: "random-with-replacement", Help: "order of the source images"},
})

var videoInputRows = group("Video Input", []setting.Row{
	{Flags: []string{"--video-batch-size", "--batch-size-video"}, Key: "datasets.main.video.batch_size", Kind: setting.Int, Bounds: ">= 0", Default: "1", Help: "number of videos per request"},
	{Flags: []string{"--video-duration"}, Key: "datasets.main.video.duration", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "5", Help: "length of a video, in s"},
	{Flags: []string{"--video-fps"}, Key: "datasets.main.video.fps", Kind: setting.Int, Bounds: ">= 1", Default: "4", Help: "frames per second"},
	{Flags: []string{"--video-width"}, Key: "datasets.main.video.width", Kind: setting.Int, Bounds: ">= 1", Help: "width of a video, in pixels"},
	{Flags: []string{"--video-height"}, Key: "datasets.main.video.height", Kind: setting.Int, Bounds: ">= 1", Help: "height of a video, in pixels"},
	{Flags: []string{"--video-synth-type"}, Key: "datasets.main.video.synth_type", Kind: setting.Enum, Choices: []string{"moving_shapes", "grid_clock", "noise"}, Default: "moving_shapes", Help: "content of a video"},
	{Flags: []string{"--video-format"}, Key: "datasets.main.video.format", Kind: setting.Enum, Choices: []string{"mp4", "webm"}, Default: "webm", Help: "container format of videos"},
	{Flags: []string{"--video-codec"}, Key: "datasets.main.video.codec", Kind: setting.Text, Default: "libvpx-vp9", Help: "video encoder"},
	{Flags: []string{"--video-audio-sample-rate"}, Key: "datasets.main.video.audio.sample_rate", Kind: setting.Float, Bounds: ">= 8, <= 96000", Default: "44.1", Help: "sample rate of the audio track, in Hz or kHz"},
	{Flags: []string{"--video-audio-num-channels"}, Key: "datasets.main.video.audio.channels", Kind: setting.Int, Bounds: ">= 0, <= 2", Default: "0", Help: "number of channels of the audio track; 0 = none"},
	{Flags: []string{"--video-audio-codec"}, Key: "datasets.main.video.audio.codec", Kind: setting.Enum, Choices: []string{"aac", "libvorbis", "libopus"}, Default: "by container", Help: "encoder of the audio track"},
	{Flags: []string{"--video-audio-depth"}, Key: "datasets.main.video.audio.depth", Kind: setting.Int, Bounds: ">= 8, <= 32", Default: "16", Help: "bit depth of the audio track"},
})
