package otlp

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricdata "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"aiperf/internal/base/protobuf"
)

// receiver keeps the bodies that came to each path and answers as configured.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string][][]byte
	answer func(w http.ResponseWriter, n int) // n-th request; nil = 200
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{bodies: map[string][][]byte{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		z, err := gzip.NewReader(req.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil || req.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Error(err, req.Header)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bodies[req.URL.Path] = append(r.bodies[req.URL.Path], body)
		if r.answer != nil {
			r.answer(w, len(r.bodies[req.URL.Path]))
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// last decodes the last body of a path.
func (r *receiver) last(t *testing.T, path string, into proto.Message) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.bodies[path]
	if len(list) == 0 {
		t.Fatalf("nothing came to %s", path)
	}
	if err := proto.Unmarshal(list[len(list)-1], into); err != nil {
		t.Fatal(err)
	}
}

var testLoad = Load{Phase: "profiling", Sent: 9, Completed: 7, Failed: 2, Cut: 1, InFlight: 1}

func testOptions(r *receiver) Options {
	return Options{
		URL: r.URL, Metrics: true, Timing: true, Traces: true, Attributes: map[string]string{"team": "a"}, Run: Run{Version: "v", BenchmarkID: "b", Operation: "chat", Provider: "p"},
		Phases: func() []Load { return []Load{testLoad} }, Flush: time.Hour, Batch: 10, Buffered: 10, Timeout: 5 * time.Second, Warn: func(string) {},
	}
}

// TestTemporality: with delta, a delivery has what came since the one before it, and begins where that ended.
func TestTemporality(t *testing.T) {
	for preferred, c := range map[string]struct {
		kinds  [2]metricdata.AggregationTemporality
		counts [2]uint64
		sent   [2]int64
		joined [2]bool // histogram, counter: the second begins where the first ended
	}{
		"":           {[2]metricdata.AggregationTemporality{2, 2}, [2]uint64{2, 3}, [2]int64{9, 12}, [2]bool{}},
		"delta":      {[2]metricdata.AggregationTemporality{1, 1}, [2]uint64{2, 1}, [2]int64{9, 3}, [2]bool{true, true}},
		"lowmemory":  {[2]metricdata.AggregationTemporality{1, 2}, [2]uint64{2, 1}, [2]int64{9, 12}, [2]bool{true, false}},
		"cumulative": {[2]metricdata.AggregationTemporality{2, 2}, [2]uint64{2, 3}, [2]int64{9, 12}, [2]bool{}},
	} {
		load := testLoad
		i := newInstruments(&Options{Metrics: true, Timing: true, Phases: func() []Load { return []Load{load} }, Getenv: func(name string) string { return map[string]string{preference: preferred}[name] }})
		i.chunks.record(1, nil)
		i.chunks.record(2, nil)
		var ends [2]uint64
		for n := range 2 {
			var got metricspb.ExportMetricsServiceRequest
			if err := proto.Unmarshal(export(nil, "v", i.collect(i.start+int64(n+1)*1e9)), &got); err != nil {
				t.Fatal(err)
			}
			for _, m := range got.ResourceMetrics[0].ScopeMetrics[0].Metrics {
				switch m.Name {
				case i.chunks.name:
					p := m.GetHistogram().DataPoints[0]
					if p.Count != c.counts[n] || m.GetHistogram().AggregationTemporality != c.kinds[0] || n == 1 && (p.StartTimeUnixNano == ends[0]) != c.joined[0] {
						t.Errorf("%q, delivery %d: %v", preferred, n, m)
					}
					ends[0] = p.TimeUnixNano
				case "aiperf.requests.sent":
					p := m.GetSum().DataPoints[0]
					if p.GetAsInt() != c.sent[n] || m.GetSum().AggregationTemporality != c.kinds[1] || n == 1 && (p.StartTimeUnixNano == ends[1]) != c.joined[1] {
						t.Errorf("%q, delivery %d: %v", preferred, n, m)
					}
					ends[1] = p.TimeUnixNano
				}
			}
			i.chunks.record(3, nil)
			load.Sent = 12
		}
	}
}

// TestResourceOfTheEnvironment: attributes of the environment are sent, those of the run replace them.
func TestResourceOfTheEnvironment(t *testing.T) {
	o := Options{Run: Run{Version: "v", BenchmarkID: "b"}, Attributes: map[string]string{"team": "a"}, Getenv: func(name string) string {
		return map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "team=x,deployment.environment.name=lab%202,service.name=y"}[name]
	}}
	want := []attribute{{"aiperf.benchmark_id", "b"}, {"deployment.environment.name", "lab 2"}, {"service.name", "aiperf"}, {"service.version", "v"}, {"team", "a"}}
	if got := o.resource(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestSpansInsist: a batch that the collector cannot take now is sent again, one that it rejects in part counts as lost, and spans beyond the buffer
// are counted.
func TestSpansInsist(t *testing.T) {
	for name, c := range map[string]struct {
		answer   func(w http.ResponseWriter, n int)
		requests int
		warns    string
	}{
		"busy once": {func(w http.ResponseWriter, n int) {
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}, 2, ""},
		"rejects": {func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			text, _ := proto.Marshal(&tracespb.ExportTraceServiceResponse{PartialSuccess: &tracespb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "no room"}})
			_, _ = w.Write(text)
		}, 1, "2 of 2 spans were not delivered: the collector rejected 1 items: no room"},
		"refuses": {func(w http.ResponseWriter, _ int) { http.Error(w, "who are you", http.StatusForbidden) }, 1, "answered 403 Forbidden: who are you"},
	} {
		r := newReceiver(t)
		r.answer = c.answer
		o := testOptions(r)
		o.Metrics, o.Timing, o.Flush = false, false, 20*time.Millisecond
		var warned []string
		o.Warn = func(text string) { warned = append(warned, text) }
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		s.begins.Add(1)
		s.queue <- protobuf.Message{}
		s.begins.Add(1)
		s.queue <- protobuf.Message{}
		s.Close(t.Context())
		text := strings.Join(warned, "\n")
		if got := len(r.bodies[tracesPath]); got != c.requests && name != "rejects" && name != "refuses" || (text == "") != (c.warns == "") || !strings.Contains(text, c.warns) {
			t.Errorf("%s: %d requests, %q", name, got, text)
		}
	}
}
