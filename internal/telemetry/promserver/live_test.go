package promserver

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/telemetry/exposition"
)

// TestPage: four requests of 10, 20, 30 and 40 ms, the second one failed; figures by hand.
func TestPage(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := NewFigures()
	if f.Now() != nil {
		t.Error("figures of no requests")
	}
	for i := range 5 {
		rec := &record.Record{Start: int64(i+1) * 1e9, Status: 200}
		rec.End = rec.Start + int64(i+1)*10e6
		rec.Messages = []record.Message{{At: rec.End, Raw: []byte("x"), Body: true}}
		reply := &record.Reply{Contents: []record.Content{{At: rec.End}}}
		if i == 1 {
			rec.Error, reply = &record.Error{Type: "E"}, nil
		}
		rec.Meta.Warmup = i == 4
		f.Observe(set.Row(rec, reply, record.Counts{}))
	}
	text := Page("1.2", []Label{{"model", `a"b\c` + "\n"}, {"streaming", "true"}}, []Gauge{{"aiperf_requests_sent", "Sent", 7}}, f.Now())
	page := exposition.Parse(text)
	if page.BadLines != 0 || !page.IsText() {
		t.Fatalf("%d bad lines\n%s", page.BadLines, text)
	}
	value := func(line string) float64 {
		for _, l := range strings.Split(string(text), "\n") {
			if rest, ok := strings.CutPrefix(l, strings.ReplaceAll(line, "{", `{model="a\"b\\c\n",streaming="true"`)+" "); ok {
				v := 0.0
				if _, err := fmt.Sscan(rest, &v); err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
		return math.NaN()
	}
	for line, want := range map[string]float64{
		"aiperf_request_latency_ms_sum{}": 80, "aiperf_request_latency_ms_count{}": 3, "aiperf_request_latency_avg_ms{}": 80. / 3, "aiperf_request_latency_min_ms{}": 10,
		"aiperf_request_latency_max_ms{}": 40, "aiperf_request_latency_current_ms{}": 40, "aiperf_request_latency_std_ms{}": math.Sqrt(1400. / 9),
		"aiperf_request_count_avg_requests{}": 3, "aiperf_error_request_count_avg_requests{}": 1, "aiperf_request_error_rate_avg_percent{}": 25,
		"aiperf_request_throughput_avg_requests_per_sec{}": 3 / 3.04, "aiperf_requests_sent{}": 7,
	} {
		if got := value(line); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	for line, want := range map[string]float64{ // of 10, 30 and 40 ms
		`aiperf_request_latency_ms{,quantile="0.05"}`: 12, `aiperf_request_latency_ms{,quantile="0.5"}`: 30, `aiperf_request_latency_ms{,quantile="0.9"}`: 38, `aiperf_request_latency_ms{,quantile="0.99"}`: 39.8,
	} {
		if got := value(line); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}

// TestServer: the page is at /metrics, nothing else is anywhere, and a port in use is an error.
func TestServer(t *testing.T) {
	s, err := Listen(t.Context(), "127.0.0.1:0", time.Second, Metrics(func() []byte { return []byte("a 1\n") }))
	if err != nil {
		t.Fatal(err)
	}
	get := func(url string) (int, string) {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if code, text := get(s.URL() + "/metrics"); code != 200 || text != "a 1\n" {
		t.Error(code, text)
	}
	if code, _ := get(s.URL() + "/other"); code != 404 {
		t.Error(code)
	}
	if _, err := Listen(t.Context(), s.addr.String(), time.Second, nil); err == nil {
		t.Error("a port in use is no error")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestServerFails: a server whose socket is taken away says so at once and again when it is closed; one that is closed does not.
func TestServerFails(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(l, time.Minute, http.NotFoundHandler())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Failed(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := s.Close(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if s, err = Listen(t.Context(), "127.0.0.1:0", time.Minute, http.NotFoundHandler()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Failed(t.Context()); err != nil {
		t.Errorf("closed, and %v", err)
	}
}

// TestFiguresOfTheSummary: every statistic of every metric of requests is that of the summary of the same requests, also in a small run.
func TestFiguresOfTheSummary(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	f, reducer := NewFigures(), set.NewReducer()
	for i := range 7 {
		rec := &record.Record{Start: int64(i+1) * 1e9, Status: 200}
		first := rec.Start + int64(1+i*i)*7e6
		rec.End = first + int64(8-i)*11e6
		rec.Messages = []record.Message{{At: first, Raw: []byte("x"), Body: true}, {At: rec.End, Raw: []byte("y"), Body: true}}
		reply := &record.Reply{Contents: []record.Content{{At: first}, {At: rec.End}}}
		row := set.Row(rec, reply, record.Counts{Input: 5 + i, Output: 20 - i, Reasoning: -1})
		f.Observe(row)
		reducer.Add(row)
	}
	summary, compared := reducer.Summary(metric.Window{}), 0
	for _, g := range f.Now() {
		r, ok := summary.Get(g.Tag)
		if !g.HasDistribution || !ok {
			continue
		}
		compared++
		got := map[metric.Stat]float64{metric.Avg: g.Avg, metric.Min: g.Min, metric.Max: g.Max, metric.Std: g.Std, metric.Sum: g.Sum, metric.Count: float64(g.Count)}
		for k, q := range g.Quantiles {
			got[metric.P1+metric.Stat(k)] = q
		}
		for stat, v := range got {
			if want := r.Values[stat]; !(math.Abs(v-want) <= 1e-9*math.Abs(want)+1e-9) {
				t.Errorf("%s, statistic %d: %v, summary %v", g.Tag, stat, v, want)
			}
		}
	}
	if compared < 6 {
		t.Errorf("%d metrics compared", compared)
	}
}
