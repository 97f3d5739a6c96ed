package chart

import (
	"encoding/json"
	"testing"
)

// TestUnit: the unit of an axis comes from its title, not from the statistic or the scale, which is in the title, too.
func TestUnit(t *testing.T) {
	for title, want := range map[string]string{
		"ms": "ms", "ms (log)": "ms", "Time (s)": "s", "Time to First Token (p50) (ms)": "ms", "Request Latency (p99) (ms) (log)": "ms", "Requests (avg)": "",
		"requests/s": "requests/s", "Output Token Throughput Per User (avg) (tokens/sec/user)": "tokens/sec/user", "place of the token (log)": "place of the token", "": "",
		"Inter Chunk Latency (range) (ms)": "ms", "GPU Utilization (%)": "%",
	} {
		a := Axis{Title: title}
		if got := a.Unit(); got != want {
			t.Errorf("%q: unit %q, want %q", title, got, want)
		}
	}
	for _, a := range []Axis{{Title: "latency (ms)", Scale: Category}, {Title: "c4", Ticks: []Tick{}}} {
		if got := a.Unit(); got != "" {
			t.Errorf("%+v: unit %q", a, got)
		}
	}
	text, err := json.Marshal(Chart{X: Axis{Title: "Time (s)"}, Y2: &Axis{Title: "W"}})
	var got struct{ X, Y2 map[string]any }
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || got.X["Unit"] != "s" || got.X["Title"] != "Time (s)" || got.Y2["Unit"] != "W" {
		t.Errorf("%s %v", text, err)
	}
}
