package inputs

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/config"
)

// TestMediaOfFile: what a file leaves open of generated media has the defaults of files (contract: config 3.3), and a size of 0 switches them off.
func TestMediaOfFile(t *testing.T) {
	type media struct {
		count, width, height int
		format               string
		seconds              float64
	}
	picture := func(width, height int, format string) media { return media{1, width, height, format, 0} }
	for text, want := range map[string]media{
		"images: {batch_size: 1}":                                    picture(512, 512, "jpeg"),
		"images: {batch_size: 1, format: PNG}":                       picture(512, 512, "png"),
		"images: {width: {mean: 64, stddev: 3}}":                     picture(64, 512, "jpeg"),
		"images: {batchSize: 1, width: 64, height: {mean: 8}}":       picture(64, 8, "jpeg"),
		"images: {width: 64, height: 0}":                             {},
		"images: {format: png}":                                      {},
		"images: {}":                                                 {},
		"audio: {batch_size: 2}":                                     {count: 2, format: "wav", seconds: 10},
		"audio: {length: {mean: 2, median: 1}, format: mp3}":         {count: 1, format: "mp3", seconds: 2},
		"audio: {length: 0, batch_size: 1}":                          {},
		"audio: {format: mp3}":                                       {},
		"video: {batch_size: 1}":                                     {},
		"video: {width: 64, height: 48}":                             {1, 64, 48, "webm", 1},
		"video: {width: 64, height: 48, batch_size: 0, duration: 3}": {},
	} {
		path := filepath.Join(t.TempDir(), "c.yaml")
		body := "benchmark:\n  model: m\n  endpoint: {url: h:1}\n  dataset: {type: synthetic, " + text + "}\n  phases: {type: concurrency, requests: 1}\n"
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		file, _, err := config.Load(path, config.Environment{}, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d, got := &file.Benchmark.Datasets[0], media{}
		if i := imageOptions(d.Images); i != nil {
			got = media{i.Batch, i.Width.Mean, i.Height.Mean, i.Format, 0}
		}
		if a := audioOptions(d.Audio); a != nil {
			got = media{count: a.Batch, format: a.Format, seconds: a.Seconds}
		}
		if v := videoOptions(d.Video); v != nil {
			got = media{v.Batch, v.Width, v.Height, v.Format, v.Seconds}
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
