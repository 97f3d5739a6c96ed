package media

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// encodeTimeout is the time limit for the encoding of one video.
const encodeTimeout = 10 * time.Minute

// ffmpeg is the program that encodes videos.
type ffmpeg struct{ path string }

// errNoFFmpeg returns an error that explains how to install ffmpeg.
func errNoFFmpeg() error {
	install := "with your system's package manager"
	switch runtime.GOOS {
	case "linux":
		install = "with apt-get install ffmpeg, dnf install ffmpeg or pacman -S ffmpeg"
	case "darwin":
		install = "with brew install ffmpeg"
	case "windows":
		install = "with winget install ffmpeg"
	}
	return fmt.Errorf("videos need the program ffmpeg, which is not in PATH; install it %s. Without it, aiperf makes only mp4 with %s and without sound", install, codecH264)
}

func findFFmpeg() (*ffmpeg, error) {
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		return nil, errNoFFmpeg()
	}
	return &ffmpeg{path}, nil
}

// encoder returns the encoder for the videos of a distribution. The output goes to a file, because its start is written last: a WebM has its length
// there, an MP4 its index. With one thread and no program or time stamps, the same frames give the same bytes on any machine with the same ffmpeg.
func (f *ffmpeg) encoder(l *videoDraws) encoder {
	return func(ctx context.Context, frames func(io.Writer) error, track []byte) ([]byte, error) {
		dir, err := os.MkdirTemp("", "aiperf-clip-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		out := filepath.Join(dir, "clip."+l.Format)
		args := []string{"-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24",
			"-s", fmt.Sprintf("%dx%d", l.Width, l.Height), "-r", strconv.Itoa(l.FPS), "-i", "pipe:0"}
		if track != nil {
			sound := filepath.Join(dir, "sound.wav")
			if err := os.WriteFile(sound, track, 0o600); err != nil {
				return nil, err
			}
			args = append(args, "-i", sound, "-c:a", l.soundCodec(), "-shortest")
		}
		args = append(args, "-c:v", l.Codec, "-pix_fmt", "yuv420p", "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact", "-f", l.Format)
		if l.Codec == "libx265" {
			args = append(args, "-x265-params", "pools=none:log-level=error")
		}
		if l.Format == formatMP4 {
			args = append(args, "-movflags", "+faststart")
		}
		if err := f.run(ctx, append(args, out), frames); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(out)
		if err == nil && len(content) == 0 {
			err = errors.New("ffmpeg wrote an empty file")
		}
		return content, err
	}
}

// soundCodec returns the encoder of the audio track. The default is Vorbis in WebM and Opus in MP4.
func (l *videoDraws) soundCodec() string {
	switch {
	case l.Sound.Codec != "":
		return l.Sound.Codec
	case l.Format == formatWebM:
		return "libvorbis"
	}
	return "libopus"
}

// run writes the frames to ffmpeg and waits for its end.
func (f *ffmpeg) run(ctx context.Context, args []string, frames func(io.Writer) error) error {
	ctx, cancel := context.WithTimeout(ctx, encodeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.path, args...)
	var said bytes.Buffer
	cmd.Stderr = &limited{&said, 64 << 10}
	cmd.WaitDelay = time.Second // for children of a wrapper script that outlive it
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("ffmpeg: %w", err)
	}
	fed := errors.Join(frames(in), in.Close()) // fails if ffmpeg exits early; its stderr has the reason
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", cmp.Or(ctx.Err(), err), lastLines(said.String(), 3))
	}
	return fed
}

// limited keeps the end of what is written, at most limit bytes.
type limited struct {
	b     *bytes.Buffer
	limit int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > l.limit {
		l.b.Next(l.b.Len() / 2)
	}
	if len(p) > l.limit/2 {
		l.b.Write(p[len(p)-l.limit/2:])
	} else {
		l.b.Write(p)
	}
	return len(p), nil
}

// lastLines joins the last n lines of a text that are not blank.
func lastLines(text string, n int) string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return strings.Join(list[max(0, len(list)-n):], "; ")
}
