package otlp

import (
	"context"
	"math"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
	"go.opentelemetry.io/otel/trace"

	rows "aiperf/internal/metric"
)

const scope = "aiperf"

// instruments make metrics and spans of finished requests.
type instruments struct {
	run    *Run
	tracer trace.Tracer // nil = no spans
	begins atomic.Int64 // spans that were begun

	seconds []seconds               // of requests; empty = no metrics are streamed
	chunks  metric.Float64Histogram // times between content messages; nil = no metrics of requests are streamed
	tokens  metric.Int64Histogram
}

// seconds is a distribution of a metric that requests have in ns.
type seconds struct {
	tag    string
	failed bool // failed requests have it, too
	to     metric.Float64Histogram
}

// Bounds of the histograms, as the conventions advise them: latencies and times between chunks in s, tokens.
var (
	durationBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	firstBounds    = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	chunkBounds    = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

func newInstruments(o *Options, meters *sdkmetric.MeterProvider, tracers *sdktrace.TracerProvider) (*instruments, error) {
	i := &instruments{run: &o.Run}
	if tracers != nil {
		i.tracer = tracers.Tracer(scope, trace.WithInstrumentationVersion(o.Run.Version), trace.WithSchemaURL(semconv.SchemaURL))
	}
	if meters == nil {
		return i, nil
	}
	meter := meters.Meter(scope, metric.WithInstrumentationVersion(o.Run.Version), metric.WithSchemaURL(semconv.SchemaURL))
	if o.Metrics {
		if err := i.requests(meter); err != nil {
			return nil, err
		}
	}
	if o.Timing {
		return i, i.timing(meter, o.Load)
	}
	return i, nil
}

// requests makes the instruments of what requests took.
func (i *instruments) requests(meter metric.Meter) error {
	duration, err := genaiconv.NewClientOperationDuration(meter, metric.WithExplicitBucketBoundaries(durationBounds...))
	if err != nil {
		return err
	}
	first, err := genaiconv.NewClientOperationTimeToFirstChunk(meter, metric.WithExplicitBucketBoundaries(firstBounds...))
	if err != nil {
		return err
	}
	chunk, err := genaiconv.NewClientOperationTimePerOutputChunk(meter, metric.WithExplicitBucketBoundaries(chunkBounds...))
	if err != nil {
		return err
	}
	usage, err := genaiconv.NewClientTokenUsage(meter, metric.WithExplicitBucketBoundaries(tokenBounds...))
	if err != nil {
		return err
	}
	i.tokens, i.chunks = usage.Int64Histogram, chunk.Float64Histogram
	i.seconds = append(i.seconds, seconds{tag: "time_to_first_token", to: first.Float64Histogram}, seconds{tag: "", failed: true, to: duration.Float64Histogram})
	return nil
}

// timing makes the instruments of how the load goes.
func (i *instruments) timing(meter metric.Meter, load func() Load) error {
	for _, d := range []struct{ name, tag, about string }{
		{"aiperf.schedule.lag", "schedule_lag", "Time from the instant at which a request should have left to that at which it was let go."},
		{"aiperf.dispatch.lag", "dispatch_lag", "Time from letting a request go to its first byte."},
	} {
		h, err := meter.Float64Histogram(d.name, metric.WithUnit("s"), metric.WithDescription(d.about), metric.WithExplicitBucketBoundaries(firstBounds...))
		if err != nil {
			return err
		}
		i.seconds = append(i.seconds, seconds{tag: d.tag, failed: true, to: h})
	}
	sent, err := meter.Int64ObservableCounter("aiperf.requests.sent", metric.WithUnit("{request}"), metric.WithDescription("Requests sent in the phase that is on."))
	if err != nil {
		return err
	}
	ended, err := meter.Int64ObservableCounter("aiperf.requests.ended", metric.WithUnit("{request}"), metric.WithDescription("Requests of the phase that have ended, by outcome."))
	if err != nil {
		return err
	}
	flight, err := meter.Int64ObservableGauge("aiperf.requests.in_flight", metric.WithUnit("{request}"), metric.WithDescription("Requests that were sent and have not ended."))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		now := load()
		phase := attribute.String("aiperf.phase.name", now.Phase)
		outcome := func(name string) metric.MeasurementOption {
			return metric.WithAttributes(phase, attribute.String("aiperf.outcome", name))
		}
		to.ObserveInt64(sent, now.Sent, metric.WithAttributes(phase))
		to.ObserveInt64(ended, now.Completed-now.Failed, outcome("success"))
		to.ObserveInt64(ended, now.Failed, outcome("error"))
		to.ObserveInt64(ended, now.Cut, outcome("cancelled"))
		to.ObserveInt64(flight, now.InFlight, metric.WithAttributes(phase))
		return nil
	}, sent, ended, flight)
	return err
}

// Observe takes a finished request in. It does not wait for the collector.
func (i *instruments) Observe(row *rows.Row) {
	ctx, about := context.Background(), i.about(row)
	if i.tracer != nil {
		i.span(ctx, row, about)
	}
	if row.Class == rows.Cut || len(i.seconds) == 0 {
		return
	}
	if row.Err != nil {
		about = append(about, semconv.ErrorTypeKey.String(errorType(row)))
	}
	with := metric.WithAttributeSet(attribute.NewSet(about...))
	for _, d := range i.seconds {
		if v, ok := d.of(row); ok {
			d.to.Record(ctx, v, with)
		}
	}
	if i.tokens == nil {
		return
	}
	for _, gap := range row.Gaps {
		i.chunks.Record(ctx, gap/1e9, with)
	}
	for _, t := range []struct {
		tag  string
		kind genaiconv.TokenTypeAttr
	}{{"input_sequence_length", genaiconv.TokenTypeInput}, {"output_sequence_length", genaiconv.TokenTypeOutput}} {
		if v, ok := row.Value(t.tag); ok {
			i.tokens.Record(ctx, int64(math.Round(v)), with, metric.WithAttributes(semconv.GenAITokenTypeKey.String(string(t.kind))))
		}
	}
}

// of is the value of a request in s. Without a tag it is the time from its start to its end.
func (d *seconds) of(row *rows.Row) (float64, bool) {
	if row.Class != rows.Valid && !d.failed {
		return 0, false
	}
	if d.tag == "" {
		if v, ok := row.Value("request_latency"); ok {
			return v / 1e9, true
		}
		return float64(row.End-row.Start) / 1e9, true
	}
	v, ok := row.Value(d.tag)
	return v / 1e9, ok
}

// about is what the conventions want to stand beside a request.
func (i *instruments) about(row *rows.Row) []attribute.KeyValue {
	phase := "profiling"
	if row.Meta.Warmup {
		phase = "warmup"
	}
	list := []attribute.KeyValue{
		semconv.GenAIOperationNameKey.String(i.run.Operation), semconv.GenAIProviderNameKey.String(i.run.Provider),
		semconv.GenAIRequestModel(row.Meta.Model), attribute.String("aiperf.phase", phase),
	}
	if n := row.Meta.URLIndex; n >= 0 && n < len(i.run.Servers) {
		list = append(list, server(i.run.Servers[n])...)
	}
	return list
}

// server is the address of a server.
func server(address string) []attribute.KeyValue {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	list := []attribute.KeyValue{semconv.ServerAddress(u.Hostname())}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		list = append(list, semconv.ServerPort(port))
	}
	return list
}

// errorType is the status of an HTTP error, else the kind of the failure: both of few values.
func errorType(row *rows.Row) string {
	if row.Err.Code >= 400 && row.Err.Code != 499 {
		return strconv.Itoa(row.Err.Code)
	}
	return row.Err.Type
}

// span makes the span of a request, from its start to its end on the wall clock.
func (i *instruments) span(ctx context.Context, row *rows.Row, about []attribute.KeyValue) {
	m := &row.Meta
	about = append(about[:len(about):len(about)],
		semconv.GenAIConversationID(m.CorrelationID), semconv.GenAIRequestStream(i.run.Streaming),
		attribute.String("aiperf.request_id", m.RequestID), attribute.Int("aiperf.turn", m.TurnIndex), attribute.Int64("aiperf.session", m.SessionNum))
	if m.MaxTokens > 0 {
		about = append(about, semconv.GenAIRequestMaxTokens(m.MaxTokens))
	}
	if v, ok := row.Value("input_sequence_length"); ok {
		about = append(about, semconv.GenAIUsageInputTokens(int(v)))
	}
	if v, ok := row.Value("output_sequence_length"); ok {
		about = append(about, semconv.GenAIUsageOutputTokens(int(v)))
	}
	first, streamed := row.Value("time_to_first_token")
	if streamed {
		about = append(about, semconv.GenAIResponseTimeToFirstChunk(first/1e9))
	}
	i.begins.Add(1)
	_, span := i.tracer.Start(ctx, i.run.Operation+" "+m.Model, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(time.Unix(0, row.Start)),
		trace.WithAttributes(about...))
	if streamed {
		span.AddEvent("aiperf.first_token", trace.WithTimestamp(time.Unix(0, row.Start+int64(first))))
	}
	if row.Err != nil {
		span.SetAttributes(semconv.ErrorTypeKey.String(errorType(row)))
		span.SetStatus(codes.Error, row.Err.Type)
	}
	span.End(trace.WithTimestamp(time.Unix(0, row.End)))
}

// begun is the number of spans so far.
func (i *instruments) begun() int64 { return i.begins.Load() }
