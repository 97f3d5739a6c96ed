package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
	"aiperf/internal/workload/conversation"
)

// Video containers, and the encoder that needs no ffmpeg.
const (
	formatWebM = "webm"
	formatMP4  = "mp4"
	codecH264  = "libx264"
)

// maxRaw is the maximum size of the raw frames of one video, in bytes.
const maxRaw = 4 << 30

// encoder encodes a video from its frames and its audio track (nil = silent).
type encoder func(ctx context.Context, frames func(io.Writer) error, track []byte) ([]byte, error)

// videoDraws draws and generates videos.
type videoDraws struct {
	Video
	frames    int
	noise     uint64 // seed of the pixel stream
	soundSeed uint64 // seed that the seed of every audio track is derived from
	drawn     uint64
	encode    encoder
	warning   string

	life    context.Context // ends with Close
	end     context.CancelFunc
	encodes sync.RWMutex // read-locked by every encoding

	once       sync.Once // for scenes without anything random
	sharedBlob *conversation.Blob
}

func newVideoDraws(ctx context.Context, o *Video, root *rng.Root, as setting.Spell) (*videoDraws, error) {
	l := &videoDraws{Video: *o, noise: root.Child("dataset.video.noise"), soundSeed: root.Child("dataset.video.audio"), frames: max(1, int(o.Seconds*float64(o.FPS)))}
	l.life, l.end = context.WithCancel(context.WithoutCancel(ctx))
	width, height := as.As("datasets.main.video.width"), as.As("datasets.main.video.height")
	switch raw := 3 * float64(o.Width) * float64(o.Height) * math.Max(1, o.Seconds*float64(o.FPS)); {
	case o.Width < 1 || o.Height < 1:
		return nil, fmt.Errorf("%s %d, %s %d: both must be at least 1", width, o.Width, height, o.Height)
	case o.Seconds <= 0 || o.FPS < 1:
		return nil, fmt.Errorf("%s %g, %s %d: must be above 0", as.As("datasets.main.video.duration"), o.Seconds, as.As("datasets.main.video.fps"), o.FPS)
	case raw > maxRaw || float64(o.Width)*float64(o.Height) > maxPixels:
		return nil, fmt.Errorf("%s, %s, %s: the video would have %.0f MB before encoding; at most %d MB and %d megapixels a frame are allowed", width, height,
			as.As("datasets.main.video.duration"), raw/1e6, maxRaw/1_000_000, maxPixels>>20)
	}
	if s := o.Sound; s != nil {
		if err := CheckDepth(s.Depth); err != nil {
			return nil, fmt.Errorf("%s: %w", as.As("datasets.main.video.audio.depth"), err)
		}
	}
	codec := as.As("datasets.main.video.codec")
	if (o.Codec == codecH264 || o.Codec == "libx265") && (o.Width%2 == 1 || o.Height%2 == 1) {
		return nil, fmt.Errorf("%s, %s: %s needs an even width and height (yuv420p), not %dx%d", width, height, o.Codec, o.Width, o.Height)
	}
	program, err := findFFmpeg()
	switch {
	case err == nil:
		l.encode = program.encoder(l)
	case o.Format == formatMP4 && o.Codec == codecH264 && o.Sound == nil:
		l.encode = l.uncompressed
		l.warning = fmt.Sprintf("no ffmpeg in PATH: aiperf makes the videos itself, as uncompressed H.264 of %.3g MB each; install ffmpeg for smaller ones", float64(l.frames)*float64(o.Width*o.Height)*1.5/1e6)
	default:
		return nil, fmt.Errorf("%s %s, %s %s: %w", as.As("datasets.main.video.format"), o.Format, codec, o.Codec, err)
	}
	if _, err := l.make(ctx, Item{}); err != nil { // reports a codec or container that ffmpeg rejects before the run starts
		return nil, fmt.Errorf("%s %s, %s %s, %d x %d: %w", as.As("datasets.main.video.format"), o.Format, codec, o.Codec, o.Width, o.Height, err)
	}
	return l, nil
}

// close stops all encodings, and waits until their processes and files are gone. Later ones fail.
func (l *videoDraws) close() {
	l.end()
	l.encodes.Lock()
	defer l.encodes.Unlock()
}

// draw draws the next video: its position in the pixel stream.
func (l *videoDraws) draw() Item {
	it := Item{kind: conversation.Video, format: l.Format, at: l.drawn}
	l.drawn++
	return it
}

// blob returns the content of an item. The first caller generates it and others share it. Its generation ends by its own time limit or with
// close, not with the context of a caller. Without anything random, all videos are equal and generated once.
func (l *videoDraws) blob(it Item) *conversation.Blob {
	media := "video/" + l.Format
	if l.Scene == sceneNoise || l.Sound != nil {
		return conversation.Made(media, -1, nil, func() ([]byte, error) { return l.make(l.life, it) })
	}
	l.once.Do(func() {
		l.sharedBlob = conversation.Made(media, -1, conversation.NewStore(maxRaw), func() ([]byte, error) { return l.make(l.life, it) })
	})
	return l.sharedBlob
}

// make generates the video of an item.
func (l *videoDraws) make(ctx context.Context, it Item) ([]byte, error) {
	l.encodes.RLock()
	defer l.encodes.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var track []byte
	if s := l.Sound; s != nil {
		source := rand.New(rng.NewNumpy(rng.ChildSeed(l.soundSeed, strconv.FormatUint(it.at+1, 10))))
		track = noiseWAV(source, int(l.Seconds*float64(s.SampleRate)), s.SampleRate, s.Channels, s.Depth)
	}
	return l.encode(ctx, func(w io.Writer) error { return l.film(w, it) }, track)
}

// film writes the frames of a video, three bytes per pixel.
func (l *videoDraws) film(w io.Writer, it Item) error {
	frame := newRGB(l.Width, l.Height)
	pixels := rng.NewNumpy(l.noise)
	pixels.Skip(it.at * uint64(l.frames) * rng.Words(len(frame.pix)))
	for i := range l.frames {
		switch l.Scene {
		case sceneNoise:
			pixels.Fill(frame.pix)
		case sceneClock:
			drawClock(frame, i, l.frames)
		case sceneShapes:
			drawShapes(frame, i, l.frames)
		default:
			return errors.New("unknown scene " + l.Scene)
		}
		if _, err := w.Write(frame.pix); err != nil {
			return err
		}
	}
	return nil
}
