package run

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"aiperf/internal/measure/stats"
	"aiperf/internal/sim/mockserver"
)

// TestSimulatedServerCounts: what the simulated server counted, against its own log of every request: tokens, the histogram of times to the first
// token, and the percentiles that are estimated from its buckets, which lie in the bucket of the true one.
func TestSimulatedServerCounts(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "truth.jsonl")
	b := whole(dir, "mock://?ttft=20ms&itl=2ms&tokens=6&jitter=0.9&truth-log="+url.QueryEscape(log), 40)
	b.Phases[0].Concurrency = ptr(8)
	b.ServerMetrics.Enabled, b.ServerMetrics.Formats = true, []string{"json"}
	b.Environment.Server.CollectionInterval = 0.02
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)}); err != nil {
		t.Fatal(err)
	}
	var firsts []float64 // s
	tokens := 0
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var one mockserver.Truth
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		k := slices.IndexFunc(one.Writes, func(w mockserver.Write) bool { return w.Events > 0 })
		firsts = append(firsts, float64(one.Writes[k].After-one.Arrival)/1e9)
		tokens += one.Tokens
	}
	var out struct {
		Metrics map[string]struct {
			Series []struct {
				Stats   map[string]float64
				Buckets map[string]float64
			}
		}
	}
	if text, err = os.ReadFile(filepath.Join(dir, "server_metrics_export.json")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.Metrics["mock_generation_tokens"].Series[0].Stats["total"]; got != float64(tokens) {
		t.Errorf("%v tokens, the server wrote %d", got, tokens)
	}
	h := out.Metrics["mock_time_to_first_token_seconds"].Series[0]
	sum := 0.0
	for _, v := range firsts {
		sum += v
	}
	if h.Stats["count"] != 40 || math.Abs(h.Stats["sum"]-sum) > 1e-6 || math.Abs(h.Stats["avg"]-sum/40) > 1e-7 { // the page rounds to six digits
		t.Errorf("%v; the server's log: sum %v", h.Stats, sum)
	}
	var bounds []float64
	for le, n := range h.Buckets {
		bound, err := strconv.ParseFloat(le, 64)
		if err != nil {
			t.Fatal(err)
		}
		bounds = append(bounds, bound)
		want := 0.0
		for _, v := range firsts {
			if v <= bound {
				want++
			}
		}
		if n != want {
			t.Errorf("bucket %s holds %v, want %v", le, n, want)
		}
	}
	slices.Sort(bounds)
	slices.Sort(firsts)
	for _, level := range []int{1, 5, 10, 25, 50, 75, 90, 95, 99} {
		got, truth := h.Stats["p"+strconv.Itoa(level)+"_estimate"], stats.Percentile(firsts, float64(level))
		// Both neighbours of the true percentile are known to their buckets alone.
		rank := float64(level) / 100 * float64(len(firsts)-1)
		low, high := firsts[int(math.Floor(rank))], firsts[int(math.Ceil(rank))]
		i, _ := slices.BinarySearch(bounds, low)
		k, _ := slices.BinarySearch(bounds, high)
		from := 0.0
		if i > 0 {
			from = bounds[i-1]
		}
		if got < from || got > bounds[k] {
			t.Errorf("p%d is estimated as %v, is %v: bucket of %v to %v", level, got, truth, from, bounds[k])
		}
	}
}
