package metric

import (
	"math"
	"testing"

	"aiperf/internal/measure/record"
)

// TestMediaFigures holds the figures of images, sound and videos against hand calculation: a request of 2 s with 4 images and 3 s of sound.
func TestMediaFigures(t *testing.T) {
	o := Options{ImageInput: true, AudioInput: true, VideoOutput: true}
	set, err := NewSelection(o)
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Record{Start: 1e9, End: 3e9, Meta: record.Meta{AudioSeconds: 3}}
	reply := &record.Reply{Images: 4, PerChunkTokens: -1, Contents: []record.Content{{At: 3e9, Kind: record.Other}}, Job: &record.Job{InferenceSeconds: 1.5, PeakMemoryMB: 9000, Seconds: -1}}
	row := set.Row(rec, reply, record.Counts{Input: -1, Output: -1, Reasoning: -1})
	for tag, want := range map[string]float64{
		"num_images": 4, "image_throughput": 2, "image_latency": 500, "audio_duration": 3, "rtfx": 1.5, "video_inference_time": 1.5, "video_peak_memory": 9000,
	} {
		if got, ok := row.Value(tag); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v %v, want %v", tag, got, ok, want)
		}
	}
	silent := set.Row(&record.Record{Start: 1e9, End: 3e9}, &record.Reply{PerChunkTokens: -1, Contents: reply.Contents, Job: &record.Job{InferenceSeconds: -1, PeakMemoryMB: -1}}, record.Counts{})
	for _, tag := range []string{"num_images", "image_throughput", "audio_duration", "rtfx", "video_inference_time", "video_peak_memory"} {
		if got, ok := silent.Value(tag); ok {
			t.Errorf("%s: %v of a request that has none", tag, got)
		}
	}
	for _, gate := range []Options{{AudioInput: true, VideoOutput: true}, {ImageInput: true, VideoOutput: true}, {ImageInput: true, AudioInput: true}} {
		s, err := NewSelection(gate)
		if err != nil {
			t.Fatal(err)
		}
		if s.Uses("image_throughput") != gate.ImageInput || s.Uses("rtfx") != gate.AudioInput || s.Uses("video_inference_time") != gate.VideoOutput {
			t.Errorf("%+v: a metric stands where its media do not", gate)
		}
	}
}
