package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

func seeded() *rng.Root { return rng.NewDecimal("42") }

func exactly(n int) dataset.Distribution { return dataset.Distribution{Mean: n} }

// content generates n items one after the other and returns their contents.
func content(t *testing.T, o Options, n int) (list [][]byte) {
	t.Helper()
	m, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		for _, it := range m.Draw(nil) {
			list = append(list, bytesOf(t, m.Part(it)))
		}
	}
	return list
}

func bytesOf(t testing.TB, p conversation.Part) []byte {
	t.Helper()
	b, err := p.Blob.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestNoise checks that images decode (image/png, image/jpeg) to the requested size. A PNG has the pixels of the Python tool: its noise stream, one
// image after the other.
func TestNoise(t *testing.T) {
	stream := seeded().Stream("dataset.image.noise").Numpy()
	for i, raw := range content(t, Options{Root: seeded(), Images: &Images{Batch: 2, Width: exactly(37), Height: exactly(11), Format: "png", Source: "noise"}}, 3) {
		m, format, err := image.Decode(bytes.NewReader(raw))
		if err != nil || format != "png" || m.Bounds() != image.Rect(0, 0, 37, 11) {
			t.Fatalf("picture %d: %s %v %v", i, format, m.Bounds(), err)
		}
		want := make([]byte, 3*37*11)
		stream.Fill(want)
		for k := range 37 * 11 {
			r, g, b, _ := m.At(k%37, k/37).RGBA()
			if got := []byte{byte(r >> 8), byte(g >> 8), byte(b >> 8)}; !bytes.Equal(got, want[3*k:3*k+3]) {
				t.Fatalf("picture %d, pixel %d: %v, want %v", i, k, got, want[3*k:3*k+3])
			}
		}
	}
}

// TestDrawsOfPictures compares sizes and formats with the draws of the Python tool with seed 42.
func TestDrawsOfPictures(t *testing.T) {
	m, err := New(t.Context(), Options{Root: seeded(), Images: &Images{Batch: 1, Width: exactly(5), Height: exactly(5), Format: "random", Source: "noise"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 8 {
		got = append(got, m.Draw(nil)[0].format)
	}
	if want := "png png jpeg jpeg png png png png"; strings.Join(got, " ") != want {
		t.Errorf("formats %v, want %s", got, want)
	}
}

// TestJPEG decodes an image with an independent decoder (image/jpeg). It has no subsampling and nearly the original colours.
func TestJPEG(t *testing.T) {
	for _, size := range [][2]int{{8, 8}, {64, 48}, {33, 17}, {1, 1}, {7, 250}} {
		m := newRGB(size[0], size[1])
		for y := range m.height {
			for x := range m.width {
				m.set(x, y, colour{byte(255 * x / m.width), byte(255 * y / m.height), byte(128 + 100*math.Sin(float64(x+y)/20))})
			}
		}
		decoded, _, err := image.Decode(bytes.NewReader(encodeJPEG(m)))
		if err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		ycc, ok := decoded.(*image.YCbCr)
		if !ok || ycc.SubsampleRatio != image.YCbCrSubsampleRatio444 || ycc.Bounds() != image.Rect(0, 0, size[0], size[1]) {
			t.Fatalf("%v: %T %v", size, decoded, decoded.Bounds())
		}
		sum := 0.0
		for i := range m.width * m.height {
			r, g, b, _ := decoded.At(i%m.width, i/m.width).RGBA()
			for c, v := range []uint32{r, g, b} {
				d := float64(v>>8) - float64(m.pix[3*i+c])
				sum += d * d
			}
		}
		if rms := math.Sqrt(sum / float64(3*m.width*m.height)); rms > 4 {
			t.Errorf("%v: colours are off by %.2f of 255 (rms)", size, rms)
		}
	}
}

// TestNoiseJPEG compares mean and deviation of the decoded noise with the original.
func TestNoiseJPEG(t *testing.T) {
	raw := content(t, Options{Root: seeded(), Images: &Images{Batch: 1, Width: exactly(128), Height: exactly(96), Format: "jpeg", Source: "noise"}}, 1)[0]
	m, format, err := image.Decode(bytes.NewReader(raw))
	if err != nil || format != "jpeg" {
		t.Fatal(format, err)
	}
	sum := 0.0
	for _, v := range m.(*image.YCbCr).Y {
		sum += float64(v)
	}
	if mean := sum / (128 * 96); math.Abs(mean-127.5) > 2 {
		t.Errorf("mean luminance %.2f, want 127.5", mean)
	}
}

// riff is the header of a WAV file.
type riff struct {
	RIFF     [4]byte
	Size     uint32
	WAVE     [4]byte
	Fmt      [4]byte
	FmtSize  uint32
	Tag      uint16
	Channels uint16
	Rate     uint32
	Bytes    uint32
	Block    uint16
	Bits     uint16
	Data     [4]byte
	DataSize uint32
}

// TestWAV checks header, length and the distribution of the samples at every depth.
func TestWAV(t *testing.T) {
	for _, bits := range []int{8, 16, 24, 32} {
		for _, channels := range []int{1, 2} {
			raw := content(t, Options{Root: seeded(), Audio: &Audio{Batch: 1, Seconds: 0.5, Format: "wav", SampleRates: []int{44100}, Depths: []int{bits}, Channels: channels}}, 1)[0]
			var h riff
			if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, &h); err != nil {
				t.Fatal(err)
			}
			block, n := channels*bits/8, 22050
			want := riff{[4]byte([]byte("RIFF")), uint32(len(raw) - 8), [4]byte([]byte("WAVE")), [4]byte([]byte("fmt ")), 16, 1, uint16(channels), 44100, uint32(44100 * block), uint16(block),
				uint16(bits), [4]byte([]byte("data")), uint32(n * block)}
			if h != want || len(raw) != 44+n*block {
				t.Fatalf("%d bits, %d channels: %d bytes, header %+v, want %+v", bits, channels, len(raw), h, want)
			}
			var sum, squares float64
			for k := 44; k < len(raw); k += bits / 8 {
				v := sample(raw[k : k+bits/8])
				sum += v
				squares += v * v
			}
			count := float64(n * channels)
			// 0.3, less the part clipped at full scale: 0.2978
			if mean, deviation := sum/count, math.Sqrt(squares/count); math.Abs(mean) > 0.012 || math.Abs(deviation-0.2978) > 0.008 {
				t.Errorf("%d bits, %d channels: mean %.4f, deviation %.4f", bits, channels, mean, deviation)
			}
		}
	}
}

// sample reads one sample as a fraction of full scale.
func sample(b []byte) float64 {
	if len(b) == 1 {
		return (float64(b[0]) - 128) / 127
	}
	v := int64(0)
	for i, c := range b {
		v |= int64(c) << (8 * i)
	}
	bits := 8 * len(b)
	if v >= 1<<(bits-1) {
		v -= 1 << bits
	}
	return float64(v) / float64(int64(1)<<(bits-1)-1)
}

// TestMP3 checks the total length of the frames at every rate, and that nothing follows the last one.
func TestMP3(t *testing.T) {
	for _, l := range mp3Rates {
		for channels := 1; channels <= 2; channels++ {
			for _, seconds := range []float64{0.05, 0.5, 2} {
				raw := content(t, Options{Root: seeded(), Audio: &Audio{Batch: 1, Seconds: seconds, Format: "mp3", SampleRates: []int{l.hz}, Depths: []int{16}, Channels: channels}}, 1)[0]
				got := conversation.Authored(conversation.Audio, "mp3,"+encode(raw)).Seconds()
				if frame := float64(576*l.granules) / float64(l.hz); got < seconds+frame-1e-9 || got >= seconds+2*frame {
					t.Errorf("%d Hz, %d channels: %g s, want %g rounded up to a frame of %g, and one more", l.hz, channels, got, seconds, frame)
				}
				if kbps := float64(len(raw)) * 8 / got / 1000; math.Abs(kbps/float64(l.kbps[channels-1])-1) > 0.02 {
					t.Errorf("%d Hz, %d channels: %.1f kbit/s, want %d", l.hz, channels, kbps, l.kbps[channels-1])
				}
			}
		}
	}
}

// TestOrderIsNothing checks that content does not depend on the order of generation or the number of cores.
func TestOrderIsNothing(t *testing.T) {
	o := Options{
		Root:   seeded(),
		Images: &Images{Batch: 2, Width: dataset.Distribution{Mean: 20, StdDev: 5}, Height: dataset.Distribution{Mean: 9, StdDev: 3}, Format: "random", Source: "noise"},
		Audio:  &Audio{Batch: 1, Seconds: 0.02, StdDev: 0.01, Format: "wav", SampleRates: []int{8000, 16000}, Depths: []int{8, 24}, Channels: 2},
	}
	want := content(t, o, 20)
	m, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var items []Item
	for range 20 {
		items = m.Draw(items)
	}
	got := make([][]byte, len(items))
	var all sync.WaitGroup
	for i := len(items) - 1; i >= 0; i-- {
		all.Go(func() { got[i] = bytesOf(t, m.Part(items[i])) })
	}
	all.Wait()
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("item %d differs", i)
		}
	}
	if bytes.Equal(want[0], want[1]) || bytes.Equal(want[2], want[5]) {
		t.Error("two items are equal")
	}
}

// TestRefusals checks that errors name the settings.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("x.txt", "no picture")
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "e.png"), []byte("\x89PNG\r\n\x1a\nbroken"), 0o600); err != nil {
		t.Fatal(err)
	}
	picture := func(format, source string) Options {
		return Options{Images: &Images{Batch: 1, Width: exactly(4), Height: exactly(4), Format: format, Source: source}}
	}
	sound := func(a Audio) Options {
		a.Batch, a.Channels = 1, 1
		return Options{Audio: &a}
	}
	for name, c := range map[string]struct {
		o    Options
		want []string
	}{
		"format":    {picture("gif", "noise"), []string{"gif", "png, jpeg, random"}},
		"missing":   {picture("png", filepath.Join(dir, "none")), []string{"none", "does not exist"}},
		"file":      {picture("png", file), []string{"x.txt", "not a directory"}},
		"empty":     {picture("png", dir), []string{"no images in"}},
		"broken":    {picture("png", broken), []string{"can be read"}},
		"large":     {Options{Images: &Images{Batch: 1, Width: exactly(60000), Height: exactly(60000), Format: "png", Source: "noise"}}, []string{"60000 × 60000"}},
		"depth":     {sound(Audio{Seconds: 1, Format: "wav", SampleRates: []int{8000}, Depths: []int{12}}), []string{"12", "8, 16, 24, 32"}},
		"short":     {sound(Audio{Seconds: 0.005, Format: "wav", SampleRates: []int{8000}, Depths: []int{16}}), []string{"0.005", "0.01"}},
		"rate":      {sound(Audio{Seconds: 1, Format: "mp3", SampleRates: []int{96000}, Depths: []int{16}}), []string{"96000", "8000, 11025", "48000"}},
		"kind":      {sound(Audio{Seconds: 1, Format: "ogg", SampleRates: []int{8000}, Depths: []int{16}}), []string{"ogg", "wav, mp3"}},
		"no rate":   {sound(Audio{Seconds: 1, Format: "wav", Depths: []int{16}}), []string{"at least one"}},
		"huge clip": {Options{Video: &Video{Batch: 1, Width: 4000, Height: 4000, Seconds: 1000, FPS: 60, Format: "mp4", Codec: "libx264"}}, []string{"MB"}},
		"odd":       {Options{Video: &Video{Batch: 1, Width: 65, Height: 49, Seconds: 1, FPS: 4, Format: "mp4", Codec: "libx264"}}, []string{"even", "65x49"}},
		"flat":      {Options{Video: &Video{Batch: 1, Width: 64, Seconds: 1, FPS: 4, Format: "mp4", Codec: "libx264"}}, []string{"both"}},
	} {
		c.o.Root = seeded()
		_, err := New(t.Context(), c.o)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", name, err, w)
			}
		}
	}
}

func BenchmarkPNG512(b *testing.B) { benchmarkPicture(b, "png") }

func BenchmarkJPEG512(b *testing.B) { benchmarkPicture(b, "jpeg") }

// benchmarkPicture generates images of 512 x 512 pixels with their base64 form on one core. The goal is 50 per second.
func benchmarkPicture(b *testing.B, format string) {
	m, err := New(b.Context(), Options{Root: seeded(), Images: &Images{Batch: 1, Width: exactly(512), Height: exactly(512), Format: format, Source: "noise"}})
	if err != nil {
		b.Fatal(err)
	}
	items := make([]Item, 0, b.N)
	for range b.N {
		items = m.Draw(items)
	}
	b.ReportAllocs()
	b.ResetTimer()
	size := 0
	for _, it := range items {
		text, err := m.Part(it).Blob.Base64()
		if err != nil {
			b.Fatal(err)
		}
		size = len(text)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pictures/s")
	b.ReportMetric(float64(size), "base64-bytes")
}

func BenchmarkSound(b *testing.B) {
	for _, format := range []string{"wav", "mp3"} {
		b.Run(fmt.Sprintf("%s-10s-16kHz", format), func(b *testing.B) {
			m, err := New(b.Context(), Options{Root: seeded(), Audio: &Audio{Batch: 1, Seconds: 10, Format: format, SampleRates: []int{16000}, Depths: []int{16}, Channels: 1}})
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				bytesOf(b, m.Part(m.Draw(nil)[0]))
			}
		})
	}
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
