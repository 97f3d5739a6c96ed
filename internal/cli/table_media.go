package cli

import "aiperf/internal/cli/args"

// mediaFlags are the flags of profile for generated media.
var mediaFlags = concat(
	group("Audio Input", []args.Flag{
		{Names: []string{"--audio-batch-size", "--batch-size-audio"}, Kind: args.Int, Bounds: ">= 0", Default: "1", NotBuilt: true, Tier: "S", Help: "sounds in one request"},
		{Names: []string{"--audio-length-mean"}, Kind: args.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Tier: "S", Help: "mean length of a sound, in s"},
		{Names: []string{"--audio-length-stddev"}, Kind: args.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Tier: "S", Help: "spread of that length, in s"},
		{Names: []string{"--audio-format"}, Kind: args.Enum, Choices: []string{"wav", "mp3"}, Default: "wav", NotBuilt: true, Tier: "S", Help: "file format of sounds"},
		{Names: []string{"--audio-depths"}, Kind: args.Int, Bounds: "> 0", Default: "16", List: true, NotBuilt: true, Tier: "S", Help: "bit depths to choose from"},
		{Names: []string{"--audio-sample-rates"}, Kind: args.Float, Bounds: "> 0", Default: "16.0", List: true, NotBuilt: true, Tier: "S", Help: "sample rates to choose from, in kHz"},
		{Names: []string{"--audio-num-channels"}, Kind: args.Int, Bounds: ">= 1, <= 2", Default: "1", NotBuilt: true, Tier: "S", Help: "channels: 1 mono, 2 stereo"},
	}),
	group("Image Input", []args.Flag{
		{Names: []string{"--image-width-mean"}, Kind: args.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Tier: "S", Help: "mean width of a picture, in pixels"},
		{Names: []string{"--image-width-stddev"}, Kind: args.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Tier: "S", Help: "spread of the width"},
		{Names: []string{"--image-height-mean"}, Kind: args.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Tier: "S", Help: "mean height of a picture, in pixels"},
		{Names: []string{"--image-height-stddev"}, Kind: args.Float, Bounds: ">= 0", Default: "0", NotBuilt: true, Tier: "S", Help: "spread of the height"},
		{Names: []string{"--image-batch-size", "--batch-size-image"}, Kind: args.Int, Bounds: ">= 0", Default: "1", NotBuilt: true, Tier: "S", Help: "pictures in one request"},
		{Names: []string{"--image-format"}, Kind: args.Enum, Choices: []string{"png", "jpeg", "random"}, Default: "png", NotBuilt: true, Tier: "S", Help: "file format of pictures"},
		{Names: []string{"--image-source"}, Kind: args.Text, Default: "noise", NotBuilt: true, Tier: "S", Help: "noise, the bundled assets, or a directory of pictures"},
		{Names: []string{"--image-source-sampling"}, Kind: args.Enum, Choices: []string{"random-with-replacement", "shuffle-cycle", "sequential-cycle"}, Default: "random-with-replacement", NotBuilt: true, Tier: "U", Help: "order in which source pictures are taken"},
	}),
	group("Video Input", []args.Flag{
		{Names: []string{"--video-batch-size", "--batch-size-video"}, Kind: args.Int, Bounds: ">= 0", Default: "1", NotBuilt: true, Tier: "S", Help: "clips in one request"},
		{Names: []string{"--video-duration"}, Kind: args.Float, Bounds: ">= 0", Default: "5", NotBuilt: true, Tier: "S", Help: "length of a clip, in s"},
		{Names: []string{"--video-fps"}, Kind: args.Int, Bounds: ">= 1", Default: "4", NotBuilt: true, Tier: "S", Help: "frames per second"},
		{Names: []string{"--video-width"}, Kind: args.Int, Bounds: ">= 1", NotBuilt: true, Tier: "S", Help: "width of a clip, in pixels"},
		{Names: []string{"--video-height"}, Kind: args.Int, Bounds: ">= 1", NotBuilt: true, Tier: "S", Help: "height of a clip, in pixels"},
		{Names: []string{"--video-synth-type"}, Kind: args.Enum, Choices: []string{"moving_shapes", "grid_clock", "noise"}, Default: "moving_shapes", NotBuilt: true, Tier: "S", Help: "what a clip shows"},
		{Names: []string{"--video-format"}, Kind: args.Enum, Choices: []string{"mp4", "webm"}, Default: "webm", NotBuilt: true, Tier: "S", Help: "container of clips"},
		{Names: []string{"--video-codec"}, Kind: args.Text, Default: "libvpx-vp9", NotBuilt: true, Tier: "S", Help: "encoder of clips"},
		{Names: []string{"--video-audio-sample-rate"}, Kind: args.Float, Bounds: ">= 8, <= 96000", Default: "44100", NotBuilt: true, Tier: "U", Help: "sample rate of the sound track, in Hz or kHz"},
		{Names: []string{"--video-audio-num-channels"}, Kind: args.Int, Bounds: ">= 0, <= 2", Default: "0", NotBuilt: true, Tier: "U", Help: "channels of the sound track; 0 is none"},
		{Names: []string{"--video-audio-codec"}, Kind: args.Enum, Choices: []string{"aac", "libvorbis", "libopus"}, Default: "by container", NotBuilt: true, Tier: "U", Help: "encoder of the sound track"},
		{Names: []string{"--video-audio-depth"}, Kind: args.Enum, Choices: []string{"8", "16", "24", "32"}, Default: "16", NotBuilt: true, Tier: "U", Help: "bit depth of the sound track"},
	}),
)
