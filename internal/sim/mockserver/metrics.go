package mockserver

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/sorting"
)

// bounds are the upper bounds of the TTFT histogram.
var bounds = []time.Duration{time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond,
	80 * time.Millisecond, 160 * time.Millisecond, 320 * time.Millisecond, 640 * time.Millisecond, 1280 * time.Millisecond,
	2560 * time.Millisecond, 5120 * time.Millisecond, 10240 * time.Millisecond}

// metrics are the counters of the server, for GET /metrics.
type metrics struct {
	running atomic.Int64
	tokens  atomic.Int64
	prompt  atomic.Int64

	mu       sync.Mutex
	requests map[[2]string]int64 // by path and outcome
	buckets  [14]int64           // not cumulative; the last bucket is above all bounds
	ttftSum  time.Duration
	ttfts    int64
}

func (m *metrics) finished(t *Truth, first int64) {
	m.tokens.Add(int64(t.Tokens + t.Reasoning))
	m.prompt.Add(int64(t.Prompt))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests = map[[2]string]int64{}
	}
	m.requests[[2]string{t.Path, t.Outcome}]++
	if first == 0 {
		return
	}
	d := time.Duration(first - t.Arrival)
	i, _ := slices.BinarySearch(bounds, d)
	m.buckets[i]++
	m.ttftSum += d
	m.ttfts++
}

// text returns the page in Prometheus text format.
func (m *metrics) text(model string) string {
	var b strings.Builder
	head := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	label := fmt.Sprintf("model_name=%q", model)
	head("mock_requests_running", "gauge", "Requests in flight.")
	fmt.Fprintf(&b, "mock_requests_running{%s} %d\n", label, m.running.Load())
	head("mock_prompt_tokens_total", "counter", "Prompt tokens counted.")
	fmt.Fprintf(&b, "mock_prompt_tokens_total{%s} %d\n", label, m.prompt.Load())
	head("mock_generation_tokens_total", "counter", "Tokens written.")
	fmt.Fprintf(&b, "mock_generation_tokens_total{%s} %d\n", label, m.tokens.Load())
	m.mu.Lock()
	defer m.mu.Unlock()
	head("mock_requests_total", "counter", "Requests answered, by outcome.")
	var keys [][2]string
	for k := range m.requests {
		keys = append(keys, k)
	}
	sorting.Sort(keys, func(x, y [2]string) int { return strings.Compare(x[0]+x[1], y[0]+y[1]) })
	for _, k := range keys {
		fmt.Fprintf(&b, "mock_requests_total{%s,path=%q,outcome=%q} %d\n", label, k[0], k[1], m.requests[k])
	}
	const ttft = "mock_time_to_first_token_seconds"
	head(ttft, "histogram", "Request complete to first content event.")
	sum := int64(0)
	for i, bound := range bounds {
		sum += m.buckets[i]
		fmt.Fprintf(&b, "%s_bucket{%s,le=\"%g\"} %d\n", ttft, label, bound.Seconds(), sum)
	}
	fmt.Fprintf(&b, "%s_bucket{%s,le=\"+Inf\"} %d\n", ttft, label, m.ttfts)
	fmt.Fprintf(&b, "%s_sum{%s} %g\n%s_count{%s} %d\n", ttft, label, m.ttftSum.Seconds(), ttft, label, m.ttfts)
	return b.String()
}
