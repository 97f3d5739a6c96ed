package otlp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// losses counts what was delivered, and keeps why something was not.
type losses struct {
	mu        sync.Mutex
	delivered int64 // spans
	failures  map[string]*failure
}

// failure is the last one of its kind, and how many there were.
type failure struct {
	err   error
	count int
}

func (l *losses) note(what string, err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures == nil {
		l.failures = map[string]*failure{}
	}
	if f := l.failures[what]; f != nil {
		f.err, f.count = err, f.count+1
		return
	}
	l.failures[what] = &failure{err, 1}
}

// tell says what was lost of so many spans.
func (l *losses) tell(begun int64, warn func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.failures["metrics"]; f != nil {
		warn(fmt.Sprintf("OpenTelemetry: %d deliveries of metrics failed, the last with: %v", f.count, f.err))
	}
	if lost := begun - l.delivered; lost > 0 {
		text := fmt.Sprintf("OpenTelemetry: %d of %d spans were not delivered", lost, begun)
		if f := l.failures["spans"]; f != nil {
			text += fmt.Sprintf(": %v", f.err)
		}
		warn(text)
	}
}

// metricSink is an exporter whose failures are counted and go no further.
type metricSink struct {
	sdkmetric.Exporter
	lost *losses
}

// Export implements sdkmetric.Exporter.
func (s *metricSink) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	err := s.Exporter.Export(ctx, m)
	if !errors.Is(ctx.Err(), context.Canceled) { // else Close has stopped it: what that delivers has the same counters, grown on
		s.lost.note("metrics", err)
	}
	return nil
}

// spanSink is the same of spans.
type spanSink struct {
	sdktrace.SpanExporter
	lost *losses
}

// ExportSpans implements sdktrace.SpanExporter.
func (s *spanSink) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		s.lost.mu.Lock()
		s.lost.delivered += int64(len(spans))
		s.lost.mu.Unlock()
	}
	s.lost.note("spans", err)
	return nil
}
