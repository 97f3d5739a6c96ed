package timeline

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// TestSpreads compares the quantiles of every second with those of all its values at once: requests end in disorder, some fail, some have no first
// token, and all values beyond the last blocks are in the file.
func TestSpreads(t *testing.T) {
	streamed, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := metric.NewSelection(metric.Options{ProducesTokens: true})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	tl := newTimeline(t.TempDir(), 0)
	ttft, latency := map[int64][]float64{}, map[int64][]float64{}
	for range 20_000 {
		start := 5e9 + random.Int64N(4e9) + 1
		first := start + 1 + random.Int64N(3e8)
		end := first + 1 + random.Int64N(2e9)
		rec := &record.Record{Start: start, End: end}
		reply := &record.Reply{Contents: []record.Content{{At: first, Kind: record.Text}, {At: end, Kind: record.Text}}}
		set := streamed
		switch random.IntN(10) {
		case 0:
			rec.Error = &record.Error{Type: "E"}
		case 1:
			set = whole
		default:
			ttft[end/1e9] = append(ttft[end/1e9], float64(first-start)/1e6)
		}
		tl.Observe(set.Row(rec, reply, record.Counts{}))
		if rec.Error == nil {
			latency[end/1e9] = append(latency[end/1e9], float64(end-start)/1e6)
		}
	}
	for range 2 { // the second time they are known
		for _, text := range tl.Lines(nil, nil) {
			var got struct {
				At      int64              `json:"timestamp_ns"`
				TTFT    map[string]float64 `json:"time_to_first_token_ms"`
				Latency map[string]float64 `json:"request_latency_ms"`
			}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			compare(t, got.At/1e9, got.TTFT, ttft)
			compare(t, got.At/1e9, got.Latency, latency)
		}
	}
}

func compare(t *testing.T, second int64, got map[string]float64, all map[int64][]float64) {
	t.Helper()
	values := slices.Sorted(slices.Values(all[second]))
	if len(values) == 0 {
		if got != nil {
			t.Errorf("second %d: %v of no request", second, got)
		}
		return
	}
	for key, level := range map[string]float64{"p50": 50, "p90": 90, "p99": 99, "max": 100} {
		if want := stats.Percentile(values, level); got[key] != want {
			t.Errorf("second %d, %s: %v, want %v", second, key, got[key], want)
		}
	}
}

// TestMemory: a long run needs less than a byte for each further request, once its values go to the file.
func TestMemory(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true})
	if err != nil {
		t.Fatal(err)
	}
	tl, now := newTimeline(t.TempDir(), 64<<10), int64(100e9)
	add := func(n int) {
		for i := range int64(n) {
			now += 50_000 // 20,000 requests/s
			rec := &record.Record{Start: now - 2e6 - i%1000, End: now}
			reply := &record.Reply{Contents: []record.Content{{At: now - 1e6, Kind: record.Text}, {At: now, Kind: record.Text}}}
			tl.Observe(set.Row(rec, reply, record.Counts{}))
		}
	}
	n := 400_000
	if testhome.RaceDetector {
		n = 40_000 // its own memory counts too
	}
	add(n)
	before := heap()
	add(n)
	if grown := heap() - before; grown > int64(n) {
		t.Errorf("%d bytes for %d requests", grown, n)
	}
	runtime.KeepAlive(tl)
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
