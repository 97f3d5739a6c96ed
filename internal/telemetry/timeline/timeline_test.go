package timeline

import (
	"encoding/json"
	"math"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// answered is a row of a streamed answer, with instants in ms from 100 s on.
func answered(t *testing.T, start, first, end int64) *metric.Row {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true})
	if err != nil {
		t.Fatal(err)
	}
	ms := func(v int64) int64 { return v*1e6 + 1 }
	rec := &record.Record{Start: ms(start), End: ms(end), WallOffset: 100e9 - 1}
	reply := &record.Reply{Contents: []record.Content{{At: ms(first), Kind: record.Text}, {At: ms(end), Kind: record.Text}}}
	return set.Row(rec, reply, record.Counts{})
}

// TestLines: by hand, two requests of which one ends two seconds later, a second without any, and a gauge.
func TestLines(t *testing.T) {
	tl := New(t.TempDir())
	tl.Observe(answered(t, 100, 150, 900))
	tl.Observe(answered(t, 200, 450, 2500))
	lines := tl.Lines([]Gauge{{"queue", map[int64]float64{101: 7}}}, map[int64][]string{101: {"vllm-0 restarted"}})
	if len(lines) != 3 {
		t.Fatalf("%s", lines)
	}
	type line struct {
		At       int64 `json:"timestamp_ns"`
		Started  int   `json:"requests_started"`
		Ended    int   `json:"requests_completed"`
		InFlight int   `json:"in_flight"`
		Queue    *float64
		Events   []string
		TTFT     map[string]float64 `json:"time_to_first_token_ms"`
		Latency  map[string]float64 `json:"request_latency_ms"`
	}
	want := []line{{At: 100e9, Started: 2, Ended: 1, InFlight: 1}, {At: 101e9, InFlight: 1}, {At: 102e9, Ended: 1}}
	for i, text := range lines {
		var got line
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		w := want[i]
		if got.At != w.At || got.Started != w.Started || got.Ended != w.Ended || got.InFlight != w.InFlight || (got.Queue != nil) != (i == 1) || (len(got.Events) == 1) != (i == 1) {
			t.Errorf("%s", text)
		}
		if i == 0 && (got.TTFT["p50"] != 50 || got.Latency["max"] != 800) || i == 2 && (got.TTFT["p99"] != 250 || got.Latency["p50"] != 2300) {
			t.Errorf("%s", text)
		}
	}
	if New(t.TempDir()).Lines(nil, nil) != nil {
		t.Error("lines of nothing")
	}
}

// TestCorrelation: a gauge that goes with the time to the first token has 1, one that goes against it -1, and few seconds have none.
func TestCorrelation(t *testing.T) {
	tl := New(t.TempDir())
	up, down, flat := Gauge{Values: map[int64]float64{}}, Gauge{Values: map[int64]float64{}}, Gauge{Values: map[int64]float64{}}
	for i := range int64(12) {
		tl.Observe(answered(t, 1000*i, 1000*i+10+i, 1000*i+500))
		up.Values[100+i], down.Values[100+i], flat.Values[100+i] = float64(3+2*i), float64(-i), 5
	}
	if r, n := tl.Correlation(up); n != 12 || math.Abs(r-1) > 1e-9 {
		t.Error(r, n)
	}
	if r, n := tl.Correlation(down); n != 12 || math.Abs(r+1) > 1e-9 {
		t.Error(r, n)
	}
	if _, n := tl.Correlation(flat); n != 0 {
		t.Error("a gauge that never changed")
	}
	if _, n := tl.Correlation(Gauge{Values: map[int64]float64{100: 1}}); n != 0 {
		t.Error("one second is enough")
	}
}
