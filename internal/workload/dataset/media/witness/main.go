// Command witness checks every kind of generated media with independent programs: ffprobe and ffmpeg, sox, and ImageMagick's identify. It generates
// each with the Maker of package media and compares the output of the programs with the requested properties. It stops checking a file at its first
// difference. make test-media runs it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/media"
)

// trial is one description of media, with the properties that its files must have.
type trial struct {
	name  string
	o     media.Options
	check func(path string) error
}

func main() {
	faults, err := witness()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if faults > 0 || err != nil {
		os.Exit(1)
	}
}

// witness generates and checks everything. faults is the number of failed trials.
func witness() (faults int, err error) {
	dir, err := os.MkdirTemp("", "aiperf-witness-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	n := 0
	for _, t := range trials() {
		t.o.Root = rng.NewDecimal("42")
		if err := t.run(dir, &n); err != nil {
			faults++
			fmt.Printf("FAIL %s: %v\n", t.name, err)
		}
	}
	fmt.Printf("%d files opened by other programs, %d faults\n", n, faults)
	return faults, nil
}

// run generates two items of the trial and checks each.
func (t *trial) run(dir string, n *int) error {
	files, err := t.make(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		*n++
		if err := t.check(file); err != nil {
			return err
		}
	}
	return nil
}

// make generates two items and writes them to files. Videos of the trials "no ffmpeg" are generated like on a machine without it.
func (t *trial) make(dir string) (files []string, err error) {
	if strings.HasPrefix(t.name, "no ffmpeg") {
		path := os.Getenv("PATH")
		if err := os.Setenv("PATH", dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.Setenv("PATH", path)) }()
	}
	m, err := media.New(context.Background(), t.o)
	if err != nil {
		return nil, err
	}
	for i, it := range m.Draw(m.Draw(nil)) {
		content, err := m.Part(it).Blob.Bytes()
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, fmt.Sprintf("%s-%d.%s", strings.ReplaceAll(t.name, " ", "-"), i, t.extension()))
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// extension returns the file extension of the trial, which sox needs.
func (t *trial) extension() string {
	switch {
	case t.o.Images != nil:
		return t.o.Images.Format
	case t.o.Audio != nil:
		return t.o.Audio.Format
	}
	return t.o.Video.Format
}

// output runs a program and returns its standard output.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, errs.String())
	}
	if errs.Len() > 0 {
		return "", fmt.Errorf("%s says %s", name, errs.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func trials() (list []trial) {
	list = append(list, pictures()...)
	list = append(list, sounds()...)
	return append(list, videoTrials()...)
}

func pictures() (list []trial) {
	normal := func(n int) dataset.Distribution { return dataset.Distribution{Mean: n} }
	for _, format := range []string{"png", "jpeg"} {
		for _, source := range []string{"noise", "assets"} {
			for _, size := range [][2]int{{1, 1}, {7, 33}, {64, 48}, {512, 512}, {1000, 3}, {1, 4096}} {
				list = append(list, trial{
					name:  fmt.Sprintf("%s %s %dx%d", format, source, size[0], size[1]),
					o:     media.Options{Images: &media.Images{Batch: 1, Width: normal(size[0]), Height: normal(size[1]), Format: format, Source: source, Sampling: "shuffle-cycle"}},
					check: picture(format, source, size[0], size[1]),
				})
			}
		}
	}
	return list
}

// picture decodes an image with identify and checks its format, size, depth, sampling and mean.
func picture(format, source string, width, height int) func(string) error {
	return func(path string) error {
		say, want := "%m %w %h %z %[colorspace] ", []string{strings.ToUpper(format), strconv.Itoa(width), strconv.Itoa(height), "8", "sRGB"}
		if format == "jpeg" {
			say += "%[jpeg:sampling-factor] "
			want = append(want, "1x1,1x1,1x1")
		}
		got, err := output("identify", "-regard-warnings", "-format", say+"%[fx:mean]", path)
		if err != nil {
			return err
		}
		f := strings.Fields(got)
		if len(f) != len(want)+1 || strings.Join(f[:len(want)], " ") != strings.Join(want, " ") {
			return fmt.Errorf("identify says %q, want %v", got, want)
		}
		mean, err := strconv.ParseFloat(f[len(want)], 64)
		if err != nil {
			return err
		}
		if n := float64(3 * width * height); source == "noise" && math.Abs(mean-0.5) > 0.01+4*0.29/math.Sqrt(n) {
			return fmt.Errorf("mean of the samples %.3f, want 0.5", mean)
		}
		return nil
	}
}

func sounds() (list []trial) {
	add := func(format string, hz, bits, channels int, seconds float64) {
		list = append(list, trial{
			name:  fmt.Sprintf("%s %d Hz %d bits %d channels", format, hz, bits, channels),
			o:     media.Options{Audio: &media.Audio{Batch: 1, Seconds: seconds, Format: format, SampleRates: []int{hz}, Depths: []int{bits}, Channels: channels}},
			check: sound(format, hz, bits, channels, seconds),
		})
	}
	for _, hz := range []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000} {
		for channels := 1; channels <= 2; channels++ {
			for _, bits := range []int{8, 16, 24, 32} {
				add("wav", hz, bits, channels, 0.5)
			}
			add("mp3", hz, 16, channels, 1.5)
		}
	}
	add("wav", 96000, 24, 2, 0.1)
	add("wav", 96000, 8, 1, 0.01)
	add("wav", 11025, 32, 2, 0.1337)
	add("mp3", 22050, 16, 1, 0.4)
	return list
}

// sound decodes an audio file with sox and checks its sample rate, channels, samples, depth and loudness.
func sound(format string, hz, bits, channels int, seconds float64) func(string) error {
	return func(path string) error {
		type one struct{ flag, want string }
		checks := []one{{"-r", strconv.Itoa(hz)}, {"-c", strconv.Itoa(channels)}}
		if format == "wav" {
			checks = append(checks, one{"-b", strconv.Itoa(bits)}, one{"-s", strconv.Itoa(int(seconds * float64(hz)))})
		}
		for _, c := range checks {
			got, err := output("soxi", c.flag, path)
			if err != nil {
				return err
			}
			if got != c.want {
				return fmt.Errorf("soxi %s says %q, want %s", c.flag, got, c.want)
			}
		}
		return decoded(format, path, hz, channels, seconds)
	}
}

// decoded decodes a whole file with sox and ffmpeg and checks its length and the standard deviation of its samples.
func decoded(format, path string, hz, channels int, seconds float64) error {
	frame := 1152.0 / float64(hz)
	probed, err := probe(path)
	if err != nil {
		return err
	}
	if s := probed.Streams[0]; s.Rate != strconv.Itoa(hz) || s.Channels != channels {
		return fmt.Errorf("ffprobe says %+v, want %d Hz, %d channels", s, hz, channels)
	}
	if _, err := output("ffmpeg", "-v", "error", "-xerror", "-f", format, "-i", path, "-f", "null", "-"); err != nil {
		return err
	}
	cmd := exec.Command("sox", path, "-n", "stat")
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("sox: %w: %s", err, said)
	}
	value := func(name string) float64 {
		_, rest, _ := strings.Cut(string(said), name)
		f, _ := strconv.ParseFloat(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), 64)
		return f
	}
	length, loud := value("Length (seconds):"), value("RMS     amplitude:")
	slack, quiet := 0.001, 0.02
	if format == "mp3" {
		slack, quiet = 2*frame, 0.09 // MP3 has whole frames, and its spectrum ends where its bits do
	}
	if length < seconds-0.001 || length > seconds+slack || math.Abs(loud-0.298) > quiet {
		return fmt.Errorf("sox decodes %.4f s at an amplitude of %.3f (RMS), want %g s at 0.3", length, loud, seconds)
	}
	return nil
}

// probed is the output of ffprobe for a file.
type probed struct {
	Streams []struct {
		Codec    string `json:"codec_name"`
		Type     string `json:"codec_type"`
		Width    int
		Height   int
		Pixels   string `json:"pix_fmt"`
		FPS      string `json:"r_frame_rate"`
		Frames   string `json:"nb_read_frames"`
		Rate     string `json:"sample_rate"`
		Channels int
	}
	Format struct {
		Name     string `json:"format_name"`
		Duration string
	}
}

func probe(path string) (p probed, err error) {
	out, err := output("ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json", path)
	if err == nil {
		err = json.Unmarshal([]byte(out), &p)
	}
	if err == nil && len(p.Streams) == 0 {
		err = fmt.Errorf("ffprobe finds no stream in %s", path)
	}
	return p, err
}

func videoTrials() (list []trial) {
	add := func(name, codec string, v media.Video) {
		v.Batch = 1
		list = append(list, trial{name: name, o: media.Options{Video: &v}, check: checkVideo(codec, v)})
	}
	for _, scene := range []string{"moving_shapes", "grid_clock", "noise"} {
		add("webm vp9 "+scene, "vp9", media.Video{Width: 64, Height: 48, Seconds: 2, FPS: 4, Format: "webm", Codec: "libvpx-vp9", Scene: scene})
		add("mp4 h264 "+scene, "h264", media.Video{Width: 128, Height: 96, Seconds: 1, FPS: 8, Format: "mp4", Codec: "libx264", Scene: scene})
		add("no ffmpeg mp4 "+scene, "h264", media.Video{Width: 70, Height: 50, Seconds: 1.5, FPS: 4, Format: "mp4", Codec: "libx264", Scene: scene})
	}
	add("webm odd size", "vp9", media.Video{Width: 65, Height: 49, Seconds: 1, FPS: 4, Format: "webm", Codec: "libvpx-vp9", Scene: "moving_shapes"})
	add("webm 1x1", "vp9", media.Video{Width: 1, Height: 1, Seconds: 1, FPS: 4, Format: "webm", Codec: "libvpx-vp9", Scene: "noise"})
	add("webm fast", "vp9", media.Video{Width: 33, Height: 64, Seconds: 0.3, FPS: 60, Format: "webm", Codec: "libvpx-vp9", Scene: "grid_clock"})
	add("mp4 one frame", "h264", media.Video{Width: 2, Height: 2, Seconds: 1, FPS: 1, Format: "mp4", Codec: "libx264", Scene: "grid_clock"})
	add("no ffmpeg mp4 one frame", "h264", media.Video{Width: 18, Height: 34, Seconds: 1, FPS: 1, Format: "mp4", Codec: "libx264", Scene: "noise"})
	add("mp4 vp9", "vp9", media.Video{Width: 64, Height: 48, Seconds: 1, FPS: 4, Format: "mp4", Codec: "libvpx-vp9", Scene: "moving_shapes"})
	add("mp4 h265", "hevc", media.Video{Width: 64, Height: 48, Seconds: 1, FPS: 4, Format: "mp4", Codec: "libx265", Scene: "moving_shapes"})
	for depth, channels := range map[int]int{8: 1, 16: 2, 24: 1, 32: 2} {
		s := &media.Sound{SampleRate: 44100, Channels: channels, Depth: depth}
		add(fmt.Sprintf("webm sound %d bits", depth), "vp9", media.Video{Width: 64, Height: 48, Seconds: 1, FPS: 4, Format: "webm", Codec: "libvpx-vp9", Scene: "noise", Sound: s})
		add(fmt.Sprintf("mp4 sound %d bits", depth), "h264", media.Video{Width: 64, Height: 48, Seconds: 1, FPS: 4, Format: "mp4", Codec: "libx264", Scene: "grid_clock", Sound: s})
	}
	aac := &media.Sound{SampleRate: 16000, Channels: 1, Depth: 16, Codec: "aac"}
	add("mp4 aac", "h264", media.Video{Width: 64, Height: 48, Seconds: 1, FPS: 4, Format: "mp4", Codec: "libx264", Scene: "noise", Sound: aac})
	return list
}

// checkVideo checks a video with ffprobe: codec, size, frame rate, frames, length, audio track.
func checkVideo(codec string, v media.Video) func(string) error {
	return func(path string) error {
		p, err := probe(path)
		if err != nil {
			return err
		}
		s := p.Streams[0]
		got := fmt.Sprintf("%s %dx%d %s %s fps, %s frames", s.Codec, s.Width, s.Height, s.Pixels, s.FPS, s.Frames)
		want := fmt.Sprintf("%s %dx%d yuv420p %d/1 fps, %d frames", codec, v.Width, v.Height, v.FPS, int(v.Seconds*float64(v.FPS)))
		if got != want || !strings.Contains(p.Format.Name, v.Format) {
			return fmt.Errorf("ffprobe says %s in %s, want %s in %s", got, p.Format.Name, want, v.Format)
		}
		if d, err := strconv.ParseFloat(p.Format.Duration, 64); err != nil || math.Abs(d-v.Seconds) > 0.06 {
			return fmt.Errorf("ffprobe says %s s, want %g", p.Format.Duration, v.Seconds)
		}
		switch {
		case v.Sound == nil && len(p.Streams) != 1, v.Sound != nil && len(p.Streams) != 2:
			return fmt.Errorf("%d streams", len(p.Streams))
		case v.Sound == nil:
			return nil
		}
		sound, tracks := p.Streams[1], map[string]string{"webm": "vorbis", "mp4": "opus"}
		track := tracks[v.Format]
		if v.Sound.Codec != "" {
			track = v.Sound.Codec
		}
		if sound.Codec != track || sound.Channels != v.Sound.Channels || track != "opus" && sound.Rate != strconv.Itoa(v.Sound.SampleRate) {
			return fmt.Errorf("sound track %+v, want %s of %d channels at %d Hz", sound, track, v.Sound.Channels, v.Sound.SampleRate)
		}
		return nil
	}
}
