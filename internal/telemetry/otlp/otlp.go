// Package otlp streams what finished requests tell to an OpenTelemetry collector while the run goes on: OTLP over HTTP, names after the
// semantic conventions for generative AI (1.41), and aiperf.* for what they have no name for. Nothing waits for the collector: what it does
// not take in time is lost, and counted.
package otlp

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Options say what is streamed, and where to.
type Options struct {
	URL        string // of the collector, with or without /v1/metrics
	Metrics    bool   // what finished requests took
	Timing     bool   // how the load goes
	Traces     bool   // a span of every request
	Attributes map[string]string
	Headers    Headers
	Run        Run
	Load       func() Load // how the load stands; called while the stream is open

	Flush     time.Duration // between two deliveries
	Batch     int           // spans of a delivery
	Buffered  int           // spans that wait at most
	Timeout   time.Duration // of a delivery
	VerifyTLS bool
	Warn      func(string)
}

// Run is what stands beside every request of the run.
type Run struct {
	Version, BenchmarkID, Provider, Operation string
	Streaming                                 bool
	Servers                                   []string // URLs, by the index that requests have
}

// Load is how the load stands.
type Load struct {
	Phase                                  string
	Sent, Completed, Failed, Cut, InFlight int64
}

// Paths of the two signals below the collector's URL (OTLP 1.9, section "OTLP/HTTP request").
const (
	metricsPath = "/v1/metrics"
	tracesPath  = "/v1/traces"
)

// finalTime is how long the last delivery may take.
const finalTime = 5 * time.Second

// Stream is an open stream. It observes finished requests.
type Stream struct {
	*instruments
	meters  *sdkmetric.MeterProvider // nil = no metrics are streamed
	tracers *sdktrace.TracerProvider // nil = no spans are
	lost    *losses
	warn    func(string)
}

// Open opens a stream. Nothing is sent yet; a collector that does not answer is told of by Close.
func Open(ctx context.Context, o Options) (*Stream, error) {
	otel.SetLogger(logr.Discard()) // its words go to the error stream otherwise; failures are counted by the sinks
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	about, err := resource.New(ctx, resource.WithAttributes(o.resource()...))
	if err != nil {
		return nil, err
	}
	to, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	s := &Stream{lost: &losses{}, warn: o.Warn}
	if o.Metrics || o.Timing {
		options := []otlpmetrichttp.Option{
			otlpmetrichttp.WithEndpointURL(to.base + metricsPath), otlpmetrichttp.WithHeaders(to.with(o.Headers.Metrics)), otlpmetrichttp.WithTimeout(o.Timeout),
			otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression),
			otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}), // the next delivery has the same counters, grown on
		}
		if to.tls {
			options = append(options, otlpmetrichttp.WithTLSClientConfig(&tls.Config{InsecureSkipVerify: !o.VerifyTLS}))
		}
		e, err := otlpmetrichttp.New(ctx, options...)
		if err != nil {
			return nil, err
		}
		s.meters = sdkmetric.NewMeterProvider(sdkmetric.WithResource(about),
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(&metricSink{e, s.lost}, sdkmetric.WithInterval(o.Flush), sdkmetric.WithTimeout(o.Timeout))))
	}
	if o.Traces {
		options := []otlptracehttp.Option{
			otlptracehttp.WithEndpointURL(to.base + tracesPath), otlptracehttp.WithHeaders(to.with(o.Headers.Traces)), otlptracehttp.WithTimeout(o.Timeout),
			otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
			otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: o.Flush / 4, MaxInterval: o.Flush, MaxElapsedTime: o.Timeout}),
		}
		if to.tls {
			options = append(options, otlptracehttp.WithTLSClientConfig(&tls.Config{InsecureSkipVerify: !o.VerifyTLS}))
		}
		e, err := otlptracehttp.New(ctx, options...)
		if err != nil {
			return nil, err
		}
		s.tracers = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSampler(sdktrace.AlwaysSample()),
			sdktrace.WithBatcher(&spanSink{e, s.lost}, sdktrace.WithBatchTimeout(o.Flush), sdktrace.WithMaxExportBatchSize(min(o.Batch, o.Buffered)),
				sdktrace.WithMaxQueueSize(o.Buffered), sdktrace.WithExportTimeout(o.Timeout)))
	}
	s.instruments, err = newInstruments(&o, s.meters, s.tracers)
	return s, err
}

// resource is what stands beside everything that is streamed.
func (o *Options) resource() []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String("service.name", "aiperf"), attribute.String("service.version", o.Run.Version), attribute.String("aiperf.benchmark_id", o.Run.BenchmarkID),
	}
	for key, value := range o.Attributes {
		list = append(list, attribute.String(key, value))
	}
	return list
}

// target is where a collector is, and what requests to it carry.
type target struct {
	base string
	tls  bool
	auth string // value of Authorization, from a user in the URL
}

// with are headers and the one of the URL, which goes first.
func (t target) with(headers map[string]string) map[string]string {
	if t.auth == "" {
		return headers
	}
	all := map[string]string{"Authorization": t.auth}
	for name, value := range headers {
		if !strings.EqualFold(name, "Authorization") {
			all[name] = value
		}
	}
	return all
}

// parse reads a collector's URL. A user in it becomes a header.
func parse(text string) (t target, err error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return t, err
	}
	if u.User != nil {
		t.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(userinfo(u.User)))
		u.User = nil
	}
	path := strings.TrimRight(u.Path, "/")
	for _, end := range []string{metricsPath, tracesPath} {
		path = strings.TrimSuffix(path, end)
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = path, "", "", ""
	t.base, t.tls = u.String(), u.Scheme == "https"
	return t, nil
}

func userinfo(u *url.Userinfo) string {
	password, _ := u.Password()
	return u.Username() + ":" + password
}

// Close delivers what is left, within finalTime, and tells what was lost.
func (s *Stream) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s.meters != nil {
			s.lost.note("metrics", s.meters.Shutdown(ctx))
		}
	}()
	if s.tracers != nil {
		s.lost.note("spans", s.tracers.Shutdown(ctx))
	}
	<-done
	s.lost.tell(s.begun(), s.warn)
}
