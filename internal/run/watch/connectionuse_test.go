package watch

import (
	"math"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// TestConnectionUse: the time for connections is a mean over all requests, those with an old connection included, and is compared with the mean latency.
func TestConnectionUse(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const ms, wall = int64(1_000_000), int64(1e18)
	r := set.NewReducer()
	for i := range int64(4) {
		from := (1000 + 100*i) * ms
		trace := &record.Trace{Reused: from - 60*ms, SendStart: from, SendEnd: from + 1, FirstChunk: from + 20*ms, LastChunk: from + 20*ms}
		if i == 0 {
			trace = &record.Trace{ConnectStart: from - 40*ms, ConnectEnd: from, SendStart: from, SendEnd: from + 1, FirstChunk: from + 20*ms, LastChunk: from + 20*ms}
		}
		r.Add(set.Row(&record.Record{Start: from, End: from + 20*ms, WallOffset: wall, Status: 200, Trace: trace}, &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: from + 20*ms, Text: "a"}}}, record.Counts{Input: -1, Output: -1, Reasoning: -1}))
	}
	u := connectionUse(r.Summary(metric.Window{From: wall, To: wall + 2000*ms}))
	if u.Connecting != 10*time.Millisecond || math.Abs(u.ConnectingShare-0.5) > 1e-9 {
		t.Errorf("%+v, want 10 ms, half of the latency of 20 ms", u)
	}
	if u := connectionUse(set.NewReducer().Summary(metric.Window{})); u != (metric.ConnectionUse{}) {
		t.Errorf("without requests: %+v", u)
	}
}
