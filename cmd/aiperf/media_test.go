//go:build unix

package main

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/sim/mockserver"
)

const (
	tinyPicture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	// half a second of WAV: 8 bit, 1000 Hz, of which the data are 500 bytes of silence
	waveHead = "UklGRhgCAABXQVZFZm10IBAAAAABAAEA6AMAAOgDAAABAAgAZGF0YfQBAAAA"
)

// TestMediaTypes runs every type that takes or gives media against a server that knows what it did.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	sound := "wav," + waveHead + strings.Repeat("AAAA", 166) + "AAA="
	for _, c := range []struct {
		name, row string
		args      []string
		images    int // that the server says it made or looked at, each request
		want      map[string]float64
		exchanges string // path of the requests that follow, "" = none
	}{
		{"image_generation", `{"text":"a kite"}`, []string{"--extra-inputs", "n:3"}, 3, map[string]float64{"input_sequence_length": 2}, ""},
		{"image_generation", `{"text":"a kite"}`, []string{"--streaming", "--extra-inputs", "partial_images:2"}, 3, map[string]float64{"input_sequence_length": 2}, ""},
		{"image_edit", `{"text":"a kite","image":"` + tinyPicture + `"}`, nil, 1, map[string]float64{"num_images": 1, "input_sequence_length": 2}, ""},
		{"image_retrieval", `{"images":["` + tinyPicture + `","` + tinyPicture + `"]}`, nil, 2, map[string]float64{"num_images": 2}, ""},
		{"audio_transcription", `{"audio":"` + sound + `"}`, nil, 0, map[string]float64{"audio_duration": 0.5}, ""},
		{"video_generation", `{"text":"a kite"}`, []string{"--download-video-content"}, 0, map[string]float64{"video_inference_time": 20, "video_peak_memory": 1024}, "/v1/videos/"},
		{"video_generation", `{"text":"a kite"}`, []string{"--request-content-type", "application/json"}, 0, map[string]float64{"video_inference_time": 20}, "/v1/videos/"},
	} {
		t.Run(c.name+" "+strings.Join(c.args, " "), func(t *testing.T) {
			if c.name != "image_edit" && c.name != "audio_transcription" {
				testhome.Slow(t)
			}
			t.Parallel()
			dir := t.TempDir()
			truth, in := filepath.Join(dir, "truth.jsonl"), filepath.Join(dir, "in.jsonl")
			if err := os.WriteFile(in, []byte(c.row+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			mock := url.Values{"ttft": {"20ms"}, "itl": {"1ms"}, "tokens": {"4"}, "truth-log": {truth}}
			args := append([]string{"--endpoint-type", c.name, "--url", "mock://?" + mock.Encode(), "--input-file", in, "--request-count", "4", "--export-level", "raw"}, c.args...)
			p := program(t, args...)
			if got := p.run(); got != 0 {
				t.Fatalf("exit status %d\n%s", got, p.stderr.String())
			}
			did, followed := map[string]mockserver.Truth{}, map[string]int{}
			for _, l := range readLines[mockserver.Truth](t, truth) {
				if c.exchanges != "" && strings.HasPrefix(l.Path, c.exchanges) {
					followed[l.RequestID]++
					continue
				}
				did[l.RequestID] = l
			}
			list := p.records()
			if len(list) != 4 || len(did) != 4 {
				t.Fatalf("%d records of %d requests", len(list), len(did))
			}
			p.checkExchanges(followed)
			for _, l := range list {
				server := did[l.Metadata.RequestID]
				if l.Error != nil || server.Outcome != "ok" || server.Images != c.images {
					t.Fatalf("error %v, the server did %+v", l.Error, server)
				}
				for tag, want := range c.want {
					if got := l.number(t, tag); got != want {
						t.Errorf("%s %v, want %v", tag, got, want)
					}
				}
				if got := l.number(t, "request_latency"); got < 20 {
					t.Errorf("latency %v ms, the server took 20", got)
				}
				if c.exchanges != "" && followed[l.Metadata.RequestID] < 1 {
					t.Error("nobody looked at the job")
				}
			}
		})
	}
}

// rawLine is what tests read of a line of the raw export.
type rawLine struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
	}
	Payload   map[string]any
	Exchanges []struct {
		Method, URL  string
		Start        int64 `json:"start_perf_ns"`
		Ack          int64 `json:"ack_perf_ns"`
		End          int64 `json:"end_perf_ns"`
		Status, Size int
	}
}

// checkExchanges holds the raw export against the server: every look at the job and the film has a line with its instants in order.
func (p *process) checkExchanges(followed map[string]int) {
	p.t.Helper()
	for _, l := range readLines[rawLine](p.t, filepath.Join(p.dir, "profile_export_raw.jsonl")) {
		if len(l.Payload) == 0 {
			p.t.Errorf("payload %v", l.Payload)
		}
		if len(l.Exchanges) != followed[l.Metadata.RequestID] {
			p.t.Errorf("%d exchanges, the server saw %d", len(l.Exchanges), followed[l.Metadata.RequestID])
		}
		before := int64(1)
		for _, x := range l.Exchanges {
			if x.Method != http.MethodGet || x.Status != 200 || x.Size == 0 || x.Start < before || x.Ack < x.Start || x.End < x.Ack {
				p.t.Errorf("exchange %+v", x)
			}
			before = x.End
		}
	}
}

// TestFailedFilms: a job that fails is a failed request with the service's words.
func TestFailedFilms(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	in := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(in, []byte(`{"text":"a kite"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program(t, "--endpoint-type", "video_generation", "--url", "mock://?ttft=5ms&error-rate=1&error-kinds=sse", "--input-file", in, "--request-count", "3")
	if got := p.run(); got != 1 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	for _, l := range p.records() {
		if l.Error == nil || l.Error.Type != "VideoGenerationError" || l.Error.Message != "Video generation failed: simulated failure" {
			t.Errorf("error %+v", l.Error)
		}
	}
}
