package rules

import "aiperf/internal/endpoint"

// What brings media about, and what shapes them once there are some.
var (
	imageShape = []string{data + "images.width", data + "images.height", data + "images.format"}
	imageKeys  = append([]string{data + "images.batch_size", data + "images.source", data + "images.source_sampling"}, imageShape...)
	audioShape = []string{data + "audio.length", data + "audio.format", data + "audio.depths", data + "audio.sample_rates", data + "audio.channels"}
	audioKeys  = append([]string{data + "audio.batch_size"}, audioShape...)
	videoShape = []string{
		data + "video.duration", data + "video.fps", data + "video.width", data + "video.height", data + "video.synth_type", data + "video.format",
		data + "video.codec", data + "video.audio",
	}
	videoKeys = append([]string{data + "video.batch_size"}, videoShape...)
)

// mediaRules say where settings of pictures, sounds and clips have no effect.
var mediaRules = []rule{
	{row: "honest", keys: join(imageShape, audioShape, videoShape), when: ownData,
		text: "has no effect: it is for generated data, not for {" + data + "path} or {" + data + "dataset}", level: warned},
	{row: "4.3", keys: imageKeys, when: all(generated, func(s *Subject) bool {
		i := s.Dataset().Images
		return !i.Enabled() || s.forgot(i.BatchSize, data+"images.batch_size")
	}), text: "has no effect: {" + data + "images.width.mean}, {" + data + "images.height.mean} or {" + data + "images.batch_size} above 0 brings pictures, a side of 0 none",
		level: warned},
	{row: "4.3", keys: audioKeys, when: all(generated, func(s *Subject) bool {
		a := s.Dataset().Audio
		return !a.Enabled() || s.forgot(a.BatchSize, data+"audio.batch_size")
	}), text: "has no effect: {" + data + "audio.length.mean} brings sounds", level: warned},
	{row: "4.3", keys: videoKeys, when: all(generated, func(s *Subject) bool {
		v := s.Dataset().Video
		return v == nil || v.Width == nil && v.Height == nil
	}), text: "has no effect: {" + data + "video.width} and {" + data + "video.height} bring clips", level: warned},
	unsent("pictures", imageKeys, func(e *endpoint.Endpoint) bool { return e.Images }),
	unsent("sounds", audioKeys, func(e *endpoint.Endpoint) bool { return e.Audio }),
	unsent("clips", videoKeys, func(e *endpoint.Endpoint) bool { return e.Video }),
}

// forgot reports whether there are none of a kind of media, though nobody said so.
func (s *Subject) forgot(batch int, key string) bool { return batch == 0 && !s.Mentioned(key) }

// unsent tells of generated media that the endpoint type does not send.
func unsent(what string, keys []string, takes func(*endpoint.Endpoint) bool) rule {
	return rule{row: "honest", keys: keys, level: warned, when: all(generated, func(s *Subject) bool { return s.Endpoint != nil && !takes(s.Endpoint) }),
		tell: func(s *Subject) string {
			return "has no effect: endpoint type " + s.Run.Endpoint.Type + " sends no " + what
		}}
}
