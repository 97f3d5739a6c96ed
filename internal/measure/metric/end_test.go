package metric

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestEndOfAnswer: a last message without content ends the latency, not the time between tokens.
func TestEndOfAnswer(t *testing.T) {
	set := newSelection(t, chat)
	rec := &record.Record{Start: 1e6, End: 60e6, Status: 200}
	reply := &record.Reply{Contents: []record.Content{{At: 11e6}, {At: 31e6, Message: 1}}, End: 51e6, EndMessage: 2, PerChunkTokens: -1}
	row := set.Row(rec, reply, record.Counts{Input: 3, Output: 3, Reasoning: -1})
	for tag, want := range map[string]float64{"request_latency": 50e6, "time_to_first_token": 10e6, "inter_token_latency": 10e6} {
		if got, ok := row.Value(tag); !ok || got != want {
			t.Errorf("%s: %v, want %v", tag, got, want)
		}
	}
}
