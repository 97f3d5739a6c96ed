package media

import (
	"bytes"
	"strings"
	"testing"

	"github.com/Eyevinn/mp4ff/mp4"

	"aiperf/internal/base/rng"
)

func clips(scene string) *Video {
	return &Video{Batch: 1, Width: 40, Height: 34, Seconds: 2, FPS: 3, Format: "mp4", Codec: "libx264", Scene: scene}
}

// TestWithoutFFmpeg checks an MP4 encoded without ffmpeg. All frames are key frames, the index is in front, and the uncompressed samples have the
// luminance of the images.
func TestWithoutFFmpeg(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	raw := content(t, Options{Root: seeded(), Video: clips("noise")}, 1)[0]
	file, err := mp4.DecodeFile(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	trak := file.Moov.Trak
	stbl := trak.Mdia.Minf.Stbl
	if n := stbl.Stsz.SampleNumber; n != 6 || file.Moov.Mvhd.Duration != uint64(2*file.Moov.Mvhd.Timescale) || file.Mdat.StartPos < file.Moov.StartPos {
		t.Errorf("%d frames, %d / %d s, index at %d, data at %d", n, file.Moov.Mvhd.Duration, file.Moov.Mvhd.Timescale, file.Moov.StartPos, file.Mdat.StartPos)
	}
	if e := stbl.Stsd.AvcX; e.Width != 40 || e.Height != 34 {
		t.Errorf("%d x %d, want 40 x 34", e.Width, e.Height)
	}
	frame := make([]byte, 3*40*34)
	rng.NewNumpy(seeded().Child("dataset.video.noise")).Fill(frame)
	y := 16 + (66*int(frame[0])+129*int(frame[1])+25*int(frame[2])+128)>>8
	first := raw[stbl.Stco.ChunkOffset[0]:][:stbl.Stsz.SampleSize[0]]
	if i := bytes.IndexByte(first[8:], byte(y)); i < 0 || i > 6 { // behind length, slice header and the type of the first macroblock
		t.Errorf("the first sample %d is not where it belongs: % x", y, first[:16])
	}
	m, err := New(t.Context(), Options{Root: seeded(), Video: clips("noise")})
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Warnings(); len(w) != 1 || !strings.Contains(w[0], "no ffmpeg") {
		t.Errorf("%v", w)
	}
	for name, v := range map[string]*Video{
		"webm":  {Batch: 1, Width: 64, Height: 48, Seconds: 1, FPS: 4, Format: "webm", Codec: "libvpx-vp9", Scene: "noise"},
		"sound": {Batch: 1, Width: 64, Height: 48, Seconds: 1, FPS: 4, Format: "mp4", Codec: "libx264", Scene: "noise", Sound: &Sound{SampleRate: 8000, Channels: 1, Depth: 16}},
	} {
		if _, err := New(t.Context(), Options{Root: seeded(), Video: v}); err == nil || !strings.Contains(err.Error(), "ffmpeg, which is not in PATH") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestScenes compares positions with values computed by hand: w = 200, h = 100, 10 frames.
func TestScenes(t *testing.T) {
	red, green, blue, black := colour{255, 0, 0}, colour{0, 255, 0}, colour{0, 0, 255}, colour{}
	at := func(f rgb, x, y int) colour { return colour(f.pix[3*(y*f.width+x):][:3]) }
	f := newRGB(200, 100)
	for _, c := range []struct {
		frame, x, y int
		want        colour
	}{
		{0, 0, 50, red}, {0, 14, 50, red}, {0, 17, 50, black}, {0, 100, 0, green}, {0, 100, 12, green}, {0, 100, 13, black}, {0, 0, 0, blue},
		{2, 80, 50, red}, {2, 80, 36, red}, {2, 80, 34, black}, {2, 100, 40, green}, {2, 88, 28, green}, {2, 140, 70, blue}, {2, 140, 81, black},
		{7, 80, 50, red}, // 7 · 40 = 280, wrapped once
	} {
		drawShapes(f, c.frame, 10)
		if got := at(f, c.x, c.y); got != c.want {
			t.Errorf("shapes, frame %d, %d,%d: %v, want %v", c.frame, c.x, c.y, got, c.want)
		}
	}
	ground, grid, grey, yellow, white := colour{32, 32, 32}, colour{64, 64, 64}, colour{128, 128, 128}, colour{255, 255, 0}, colour{255, 255, 255}
	for _, c := range []struct {
		frame, x, y int
		want        colour
	}{
		{0, 150, 70, ground}, {0, 160, 70, grid}, {0, 150, 64, grid}, {0, 100, 50, red}, {0, 100, 40, white}, {0, 100, 28, white}, {0, 100, 26, grey}, {0, 125, 50, grey},
		{0, 75, 50, grey}, {5, 100, 70, white}, {5, 102, 42, yellow}, // after half a turn the minute hand points down, and the hour hand is 15° past twelve
	} {
		drawClock(f, c.frame, 10)
		if got := at(f, c.x, c.y); got != c.want {
			t.Errorf("clock, frame %d, %d,%d: %v, want %v", c.frame, c.x, c.y, got, c.want)
		}
	}
	text := func(frame int) (n int) {
		drawClock(f, frame, 20)
		for y := 10; y < 24; y++ {
			for x := 10; x < 10+7*8; x++ {
				if at(f, x, y) == white {
					n++
				}
			}
		}
		return n
	}
	if a, b := text(1), text(11); a < 40 || b <= a {
		t.Errorf("%d white pixels in the corner for frame 1, %d for frame 11", a, b)
	}
}

// TestClipsThatAreAlike checks that a scene without randomness is generated once.
func TestClipsThatAreAlike(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for scene, want := range map[string]bool{"moving_shapes": true, "grid_clock": true, "noise": false} {
		m, err := New(t.Context(), Options{Root: seeded(), Video: clips(scene)})
		if err != nil {
			t.Fatal(err)
		}
		a, b := m.Part(m.Draw(nil)[0]), m.Part(m.Draw(nil)[0])
		if (a.Blob == b.Blob) != want || bytes.Equal(bytesOf(t, a), bytesOf(t, b)) != want {
			t.Errorf("%s: clips alike, want %v", scene, want)
		}
	}
}
