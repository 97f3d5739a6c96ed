package rules

import (
	"strconv"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// Keys that enable media (…Keys) and keys that only shape them (…Shape, …Sides).
var (
	imageSides = []string{data + "images.width", data + "images.height"}
	imageShape = append([]string{data + "images.format"}, imageSides...)
	imageKeys  = append([]string{data + "images.batch_size", data + "images.source", data + "images.source_sampling"}, imageShape...)
	audioShape = []string{data + "audio.length", data + "audio.format", data + "audio.depths", data + "audio.sample_rates", data + "audio.channels"}
	audioKeys  = append([]string{data + "audio.batch_size"}, audioShape...)
	videoShape = []string{
		data + "video.duration", data + "video.fps", data + "video.width", data + "video.height", data + "video.synth_type", data + "video.format",
		data + "video.codec", data + "video.audio",
	}
	videoKeys = append([]string{data + "video.batch_size"}, videoShape...)
)

// mediaRules finds settings of images, audio and video that have no effect.
var mediaRules = []rule{
	{row: "honest", keys: join(imageShape, audioShape, videoShape), when: externalData,
		text: "has no effect: it is for generated data, not for {" + data + "path} or {" + data + "dataset}", level: warning},
	{row: "4.3", keys: imageKeys, when: all(syntheticData, noImages), level: warning,
		text: ": no images are generated, because a side is 0 or not given; give {" + data + "images.width.mean} and {" + data + "images.height.mean} above 0"},
	{row: "4.3", keys: imageSides, when: all(syntheticData, func(s *Subject) bool {
		return s.Dataset().Images.Enabled() && s.isGiven(imageSides[0]) != s.isGiven(imageSides[1])
	}), problem: func(s *Subject) string {
		other := "{" + imageSides[0] + ".mean}"
		if s.isGiven(imageSides[0]) {
			other = "{" + imageSides[1] + ".mean}"
		}
		return ": images need width and height, and " + other + " is not given, so that side has " + strconv.Itoa(config.DefaultSide) + " pixels; give both"
	}, level: warning},
	{row: "4.3", keys: audioKeys, when: all(syntheticData, func(s *Subject) bool {
		a := s.Dataset().Audio
		return !a.Enabled() || s.batchOmitted(a.BatchSize, data+"audio.batch_size")
	}), text: "has no effect: {" + data + "audio.length.mean} adds audio", level: warning},
	{row: "4.3", keys: videoKeys, when: all(syntheticData, func(s *Subject) bool {
		v := s.Dataset().Video
		return v == nil || v.Width == nil && v.Height == nil
	}), text: "has no effect: {" + data + "video.width} and {" + data + "video.height} add video", level: warning},
	mediaNotSent("pictures", imageKeys, func(e *endpoint.Endpoint) bool { return e.Images }),
	mediaNotSent("sounds", audioKeys, func(e *endpoint.Endpoint) bool { return e.Audio }),
	mediaNotSent("clips", videoKeys, func(e *endpoint.Endpoint) bool { return e.Video }),
}

// noImages reports whether no images are generated although the user did not set their number to 0.
func noImages(s *Subject) bool {
	i := s.Dataset().Images
	return !i.Enabled() || s.batchOmitted(i.BatchSize, data+"images.batch_size")
}

// batchOmitted reports whether the number of a kind of media is 0 although the user did not say so.
func (s *Subject) batchOmitted(batch int, key string) bool { return batch == 0 && !s.Mentioned(key) }

// mediaNotSent warns about generated media that the endpoint type does not send.
func mediaNotSent(what string, keys []string, takes func(*endpoint.Endpoint) bool) rule {
	return rule{row: "honest", keys: keys, level: warning, when: all(syntheticData, func(s *Subject) bool { return s.Endpoint != nil && !takes(s.Endpoint) }),
		problem: func(s *Subject) string {
			return "has no effect: endpoint type " + s.Run.Endpoint.Type + " sends no " + what
		}}
}
