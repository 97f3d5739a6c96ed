// Package media makes what is not text in generated requests: pictures, sounds and clips.
//
// A Maker draws what a turn holds (Item: kind, size, format, place in the stream of noise) in the order of the turns, which costs nothing;
// the content itself is made on any core when it is asked for, or a little ahead of that (Ahead), and is the same whatever the order.
package media

import (
	"context"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/rng"
	"aiperf/internal/setting"
)

// Options describe the media of a turn; nil = none of the kind.
type Options struct {
	Spell  setting.Spell `json:"-"` // words the settings that errors speak of
	Root   *rng.Root     `json:"-"`
	Images *Images
	Audio  *Audio
	Video  *Video
}

// Images describes generated pictures.
type Images struct {
	Batch         int                  // pictures of a turn, ≥ 1
	Width, Height dataset.Distribution // pixels
	Format        string               // png, jpeg, or random: one of the two for every picture
	Source        string               // noise, assets (the bundled photographs), or a directory
	Sampling      string               // how source pictures are taken: random-with-replacement, shuffle-cycle, sequential-cycle
}

// Audio describes generated sounds: white noise with a Gaussian distribution, standard deviation 0.3 of full scale.
type Audio struct {
	Batch           int            // sounds of a turn, ≥ 1
	Seconds, StdDev float64        // length
	Shape           *dataset.Shape // of the length, in place of the two; nil: they tell it
	Format          string         // wav, mp3
	SampleRates     []int          // Hz; one is drawn for every sound
	Depths          []int          // bits of a sample; one is drawn for every sound
	Channels        int            // 1, 2
}

// Video describes generated clips.
type Video struct {
	Batch         int     // clips of a turn, ≥ 1
	Width, Height int     // pixels
	Seconds       float64 // length
	FPS           int     // frames a second
	Format        string  // container: webm, mp4
	Codec         string  // ffmpeg's name of the encoder
	Scene         string  // moving_shapes, grid_clock, noise
	Sound         *Sound  // nil = silent
}

// Sound is the sound track of a clip.
type Sound struct {
	SampleRate int    // Hz
	Channels   int    // 1, 2
	Depth      int    // bits of a sample before it is encoded
	Codec      string // ffmpeg's name of the encoder, "" = by the container
}

// Item is what was drawn for one picture, sound or clip.
type Item struct {
	kind   conversation.Kind
	format string // png, jpeg, wav, mp3, webm, mp4
	a, b   int32  // picture: width and height in pixels; sound: Hz and bits
	n      int32  // sound: samples of a channel; picture: index of its source
	at     uint64 // place in the stream of noise, or number of the item of its kind
}

// Maker draws items and makes their content. Draw is for one goroutine at a time, the rest for any number.
type Maker struct {
	images *imageDraws
	audio  *audioDraws
	video  *videoDraws
	count  int // items of a turn
}

// New checks the options and returns their maker. Everything that can be wrong with them, with a directory of pictures or with the
// program that encodes clips is found here.
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

// Count is the number of items of a turn.
func (m *Maker) Count() int {
	if m == nil {
		return 0
	}
	return m.count
}

// Draw appends the items of the next turn: pictures, sounds, clips.
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

// names are what the lists of a turn are called.
var names = map[conversation.Kind]string{conversation.Image: "image_url", conversation.Audio: "input_audio", conversation.Video: "video_url"}

// Part is the part of a turn that holds an item. Its content is made when it is first needed.
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

// Warnings are what the user should know about the media, one line each.
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
