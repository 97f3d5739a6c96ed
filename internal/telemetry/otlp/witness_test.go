package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdkattr "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricdata "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"aiperf/internal/base/protobuf"
	rows "aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
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

var (
	testResource = []sdkattr.KeyValue{sdkattr.String("aiperf.benchmark_id", "b"), sdkattr.String("service.name", "aiperf"), sdkattr.String("service.version", "v"), sdkattr.String("team", "a")}
	testLoad     = Load{Phase: "profiling", Sent: 9, Completed: 7, Failed: 2, Cut: 1, InFlight: 1}
)

func testOptions(r *receiver) Options {
	return Options{
		URL: r.URL, Metrics: true, Timing: true, Traces: true, Attributes: map[string]string{"team": "a"}, Run: Run{Version: "v", BenchmarkID: "b", Operation: "chat", Provider: "p"},
		Load: func() Load { return testLoad }, Flush: time.Hour, Batch: 10, Buffered: 10, Timeout: 5 * time.Second, Warn: func(string) {},
	}
}

// sorted puts attributes and data points in order, and takes times away.
func sorted(request *metricspb.ExportMetricsServiceRequest) {
	key := func(list []*commonpb.KeyValue) string {
		slices.SortFunc(list, func(a, b *commonpb.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
		text := ""
		for _, a := range list {
			text += a.String()
		}
		return text
	}
	scoped := request.ResourceMetrics[0].ScopeMetrics[0]
	slices.SortFunc(scoped.Metrics, func(a, b *metricdata.Metric) int { return cmp.Compare(a.Name, b.Name) })
	for _, m := range scoped.Metrics {
		for _, points := range [][]*metricdata.NumberDataPoint{m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()} {
			slices.SortFunc(points, func(a, b *metricdata.NumberDataPoint) int { return cmp.Compare(key(a.Attributes), key(b.Attributes)) })
			for _, p := range points {
				p.StartTimeUnixNano, p.TimeUnixNano = 0, 0
			}
		}
		points := m.GetHistogram().GetDataPoints()
		slices.SortFunc(points, func(a, b *metricdata.HistogramDataPoint) int {
			return cmp.Compare(key(a.Attributes), key(b.Attributes))
		})
		for _, p := range points {
			p.StartTimeUnixNano, p.TimeUnixNano = 0, 0
		}
	}
}

// TestMetricsAgainstTheSDK: histograms, counters and gauges are the messages that OpenTelemetry's own SDK sends for the same values.
func TestMetricsAgainstTheSDK(t *testing.T) {
	values := []float64{0, .001, .0010001, .5, 3, 1e9}
	ours := newReceiver(t)
	s, err := Open(t.Context(), testOptions(ours))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		s.chunks.record(v, []attribute{{"model", "m"}, {"n", int64(i % 2)}, {"ok", true}, {"share", .25}})
	}
	s.Close(t.Context())
	var got metricspb.ExportMetricsServiceRequest
	ours.last(t, metricsPath, &got)

	theirs := newReceiver(t)
	e, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(theirs.URL+metricsPath), otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	about, err := resource.New(t.Context(), resource.WithAttributes(testResource...))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithResource(about), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e)))
	meter := provider.Meter(scope, metric.WithInstrumentationVersion("v"), metric.WithSchemaURL(schemaURL))
	h, err := meter.Float64Histogram(s.chunks.name, metric.WithUnit(s.chunks.unit), metric.WithDescription(s.chunks.about), metric.WithExplicitBucketBoundaries(chunkBounds...))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		h.Record(t.Context(), v, metric.WithAttributes(sdkattr.String("model", "m"), sdkattr.Int("n", i%2), sdkattr.Bool("ok", true), sdkattr.Float64("share", .25)))
	}
	sent, _ := meter.Int64ObservableCounter("aiperf.requests.sent", metric.WithUnit("{request}"), metric.WithDescription("Requests sent in the current phase."))
	ended, _ := meter.Int64ObservableCounter("aiperf.requests.ended", metric.WithUnit("{request}"), metric.WithDescription("Requests of the phase that have ended, by outcome."))
	flight, _ := meter.Int64ObservableGauge("aiperf.requests.in_flight", metric.WithUnit("{request}"), metric.WithDescription("Requests sent and not ended yet."))
	_, err = meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		phase := sdkattr.String("aiperf.phase.name", "profiling")
		to.ObserveInt64(sent, 9, metric.WithAttributes(phase))
		for outcome, n := range map[string]int64{"success": 5, "error": 2, "cancelled": 1} {
			to.ObserveInt64(ended, n, metric.WithAttributes(phase, sdkattr.String("aiperf.outcome", outcome)))
		}
		to.ObserveInt64(flight, 1, metric.WithAttributes(phase))
		return nil
	}, sent, ended, flight)
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	var want metricspb.ExportMetricsServiceRequest
	theirs.last(t, metricsPath, &want)
	for _, p := range got.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetHistogram().DataPoints {
		if p.StartTimeUnixNano == 0 || p.TimeUnixNano < p.StartTimeUnixNano {
			t.Errorf("from %d to %d", p.StartTimeUnixNano, p.TimeUnixNano)
		}
	}
	sorted(&got)
	sorted(&want)
	if !proto.Equal(&got, &want) {
		t.Errorf("sent\n%v\nwant\n%v", &got, &want)
	}
}

// TestSpansAgainstTheSDK: a span equals the message of OpenTelemetry's SDK, except for random numbers.
func TestSpansAgainstTheSDK(t *testing.T) {
	ours := newReceiver(t)
	s, err := Open(t.Context(), testOptions(ours))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rows.NewSelection(rows.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row := set.Row(&record.Record{Start: 1, End: 1_000_000_001, WallOffset: 1_700_000_000_000_000_000}, nil, record.Counts{})
	row.Meta.Model, row.Meta.RequestID, row.Meta.CorrelationID, row.Meta.TurnIndex, row.Meta.SessionNum, row.Meta.MaxTokens = "m\xff", "r", "c", 3, 4, 5
	row.Meta.URLIndex = -1
	row.Err = &record.Error{Type: "Timeout"}
	s.Observe(row)
	s.Close(t.Context())
	var got tracespb.ExportTraceServiceRequest
	ours.last(t, tracesPath, &got)

	theirs := newReceiver(t)
	e, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(theirs.URL+tracesPath), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	about, err := resource.New(t.Context(), resource.WithAttributes(testResource...))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(e))
	_, span := provider.Tracer(scope, trace.WithInstrumentationVersion("v"), trace.WithSchemaURL(schemaURL)).Start(t.Context(), "chat m\uFFFD", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(time.Unix(0, row.Start)), trace.WithAttributes(
			sdkattr.String("gen_ai.operation.name", "chat"), sdkattr.String("gen_ai.provider.name", "p"), sdkattr.String("gen_ai.request.model", "m\uFFFD"), sdkattr.String("aiperf.phase", "profiling"),
			sdkattr.String("gen_ai.conversation.id", "c"), sdkattr.Bool("gen_ai.request.stream", false), sdkattr.String("aiperf.request_id", "r"), sdkattr.Int("aiperf.turn", 3),
			sdkattr.Int("aiperf.session", 4), sdkattr.Int("gen_ai.request.max_tokens", 5), sdkattr.String("error.type", "Timeout")))
	span.SetStatus(codes.Error, "Timeout")
	span.End(trace.WithTimestamp(time.Unix(0, row.End)))
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	var want tracespb.ExportTraceServiceRequest
	theirs.last(t, tracesPath, &want)
	for _, request := range []*tracespb.ExportTraceServiceRequest{&got, &want} {
		one := request.ResourceSpans[0].ScopeSpans[0].Spans[0]
		if len(one.TraceId) != 16 || len(one.SpanId) != 8 || bytes.Equal(one.SpanId, make([]byte, 8)) {
			t.Errorf("ids %x %x", one.TraceId, one.SpanId)
		}
		one.TraceId, one.SpanId = nil, nil
	}
	if !proto.Equal(&got, &want) {
		t.Errorf("sent\n%v\nwant\n%v", &got, &want)
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
		i := newInstruments(&Options{Metrics: true, Timing: true, Load: func() Load { return load }, Getenv: func(name string) string { return map[string]string{preference: preferred}[name] }})
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
