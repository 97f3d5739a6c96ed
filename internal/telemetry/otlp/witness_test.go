//go:build !race

package otlp

// The SDK is a twelfth of all code that tests under the race detector would compile. Tests of goroutines are in exporter_test.go.

import (
	"bytes"
	"cmp"
	"context"
	"slices"
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

	rows "aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

var testResource = []sdkattr.KeyValue{sdkattr.String("aiperf.benchmark_id", "b"), sdkattr.String("service.name", "aiperf"), sdkattr.String("service.version", "v"), sdkattr.String("team", "a")}

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
	sent, _ := meter.Int64ObservableCounter("aiperf.requests.sent", metric.WithUnit("{request}"), metric.WithDescription("Requests sent in the phase."))
	ended, _ := meter.Int64ObservableCounter("aiperf.requests.ended", metric.WithUnit("{request}"), metric.WithDescription("Requests of the phase that have ended, by outcome."))
	flight, _ := meter.Int64ObservableGauge("aiperf.requests.in_flight", metric.WithUnit("{request}"), metric.WithDescription("Requests of the current phase that were sent and have not ended yet."))
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
