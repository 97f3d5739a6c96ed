// Package media generates images, audio and video for requests.
//
// A Maker draws the items of a turn in the order of the turns (Item: kind, size, format, position in the noise stream). This is cheap. The content of
// an item is generated on any core when it is requested, or a little earlier (ContentCache). It does not depend on the order.
package media

import (
	"context"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// Options describe the media of a turn; nil = no media of that kind.
type Options struct {
	Spell  setting.Spell `json:"-"` // names settings in errors
	Root   *rng.Root     `json:"-"`
	Images *Images
	Audio  *Audio
	Video  *Video
}

// Images describes generated images.
type Images struct {
	Batch         int                  // images per turn, ≥ 1
	Width, Height dataset.Distribution // pixels
	Format        string               // png, jpeg, or random: one of the two is drawn for every image
	Source        string               // noise, assets (the bundled photographs), or a directory
	Sampling      string               // order of source images: random-with-replacement, shuffle-cycle, sequential-cycle
}

// Audio describes generated audio: Gaussian white noise with a standard deviation of 0.3 of full scale.
type Audio struct {
	Batch           int            // audio items per turn, ≥ 1
	Seconds, StdDev float64        // length: mean and standard deviation
	Shape           *dataset.Shape // distribution of the length instead of mean and deviation; nil = not used
	Format          string         // wav, mp3
	SampleRates     []int          // Hz; one is drawn for every audio
	Depths          []int          // bits per sample; one is drawn for every audio
	Channels        int            // 1, 2
}

// Video describes generated videos.
type Video struct {
	Batch         int     // videos per turn, ≥ 1
	Width, Height int     // pixels
	Seconds       float64 // length
	FPS           int     // frames per second
	Format        string  // container: webm, mp4
	Codec         string  // encoder name of ffmpeg
	Scene         string  // moving_shapes, grid_clock, noise
	Sound         *Sound  // nil = silent
}

// Sound is the audio track of a video.
type Sound struct {
	SampleRate int    // Hz
	Channels   int    // 1, 2
	Depth      int    // bits per sample before encoding
	Codec      string // encoder name of ffmpeg; "" = chosen by the container
}

// Item holds the draws for one image, audio or video.
type Item struct {
	kind   conversation.Kind
	format string // png, jpeg, wav, mp3, webm, mp4
	a, b   int32  // image: width and height in pixels; audio: Hz and bits
	n      int32  // audio: samples per channel; image: index of its source
	at     uint64 // position in the noise stream, or number of the item within its kind
}

// Maker draws items and generates their content. Draw must not be called concurrently; all other methods may.
type Maker struct {
	images *imageDraws
	audio  *audioDraws
	video  *videoDraws
	count  int // items per turn
}

// New checks the options and returns a Maker. It reports all errors in the options, in a directory of images and in the program that encodes videos.
func New(ctx context.Context, o Options) (*Maker, error) {
	m := &Maker{}
	var err error
	if o.Images != nil {
		if m.images, err = newImageDraws(o.Images, o.Root, o.Spell); err != nil {
			return nil, err
		}
		m.count += o.Images.Batch
	}
	if o.Audio != nil {
		if m.audio, err = newAudioDraws(o.Audio, o.Root, o.Spell); err != nil {
			return nil, err
		}
		m.count += o.Audio.Batch
	}
	if o.Video != nil {
		if m.video, err = newVideoDraws(ctx, o.Video, o.Root, o.Spell); err != nil {
			return nil, err
		}
		m.count += o.Video.Batch
	}
	return m, nil
}

// Close stops the programs that encode videos and waits until they and their files are gone. Videos that are requested later fail.
func (m *Maker) Close() {
	if m != nil && m.video != nil {
		m.video.close()
	}
}

// Count returns the number of items per turn.
func (m *Maker) Count() int {
	if m == nil {
		return 0
	}
	return m.count
}

// Draw appends the items of the next turn: images, audio, videos.
func (m *Maker) Draw(items []Item) []Item {
	if m == nil {
		return items
	}
	if l := m.images; l != nil {
		for range l.Batch {
			items = append(items, l.draw())
		}
	}
	if l := m.audio; l != nil {
		for range l.Batch {
			items = append(items, l.draw())
		}
	}
	if l := m.video; l != nil {
		for range l.Batch {
			items = append(items, l.draw())
		}
	}
	return items
}

// names are the list names of each kind in a turn.
var names = map[conversation.Kind]string{conversation.Image: "image_url", conversation.Audio: "input_audio", conversation.Video: "video_url"}

// Part returns the part of a turn with this item. Its content is generated when it is first needed.
func (m *Maker) Part(it Item) conversation.Part {
	part := conversation.Part{Kind: it.kind, Name: names[it.kind]}
	switch it.kind {
	case conversation.Image:
		part.Blob = conversation.Made("image/"+it.format, -1, nil, func() ([]byte, error) { return m.images.make(it) })
	case conversation.Audio:
		seconds := float64(it.n) / float64(it.a)
		part.Blob = conversation.Clip("audio/"+it.format, seconds, func() ([]byte, error) { return m.audio.make(it) })
	case conversation.Video:
		part.Blob = m.video.blob(it)
	}
	return part
}

// Warnings returns messages about the media for the user, one line each.
func (m *Maker) Warnings() []string {
	var list []string
	if m != nil && m.images != nil && m.images.sources != nil {
		list = append(list, m.images.sources.warnings...)
	}
	if m != nil && m.video != nil && m.video.warning != "" {
		list = append(list, m.video.warning)
	}
	return list
}
