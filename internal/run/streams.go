package run

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/run/component"
	"aiperf/internal/telemetry/otlp"
	"aiperf/internal/telemetry/promserver"
	"aiperf/internal/workload/load"
)

// streams sends live figures of a run to other programs: a page for Prometheus, a collector of OpenTelemetry.
type streams struct {
	observers []pipeline.Observer
	load      atomic.Pointer[load.Sender] // nil until the load exists

	mu    sync.Mutex
	ended []otlp.Load // final numbers of the phases that have ended
}

// startPage serves the page for Prometheus if the settings ask for one. It answers until the end of the run.
func (o *runResources) startPage(ctx context.Context) error {
	o.streams = new(streams)
	address := o.cfg.Runtime.MetricsListen
	if address == "" {
		return nil
	}
	figures, labels := promserver.NewFigures(), pageLabels(o.cfg, o.opts)
	server, err := promserver.Listen(ctx, address, 10*time.Second, promserver.Metrics(func() []byte {
		return promserver.Page(o.opts.Version, labels, gaugesOf(o.streams.standing()), figures.Now())
	}))
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.cfg.As("runtime.metrics_listen"), address, err)
	}
	o.say.Note("metrics of this run: %s/metrics", server.URL())
	o.streams.observers = append(o.streams.observers, figures)
	o.untilEnd.OnStop(func() error {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), component.StopLimit/2)
		defer cancel()
		return server.Close(limited)
	})
	return nil
}

// startStreams opens the configured streams. They end when the results have the last request.
func (o *runResources) startStreams(ctx context.Context) error {
	if o.api != nil {
		o.streams.observers = append(o.streams.observers, o.api)
	}
	if t := &o.cfg.OTel; t.MetricsURL != "" && (t.StreamMetrics || t.StreamTiming || t.StreamTraces) {
		tuning := &o.cfg.Environment.OTel
		stream, err := otlp.Open(ctx, otlp.Options{
			URL: t.MetricsURL, Metrics: t.StreamMetrics, Timing: t.StreamTiming, Traces: t.StreamTraces, Attributes: t.ResourceAttributes, Headers: otlp.HeadersOf(os.Getenv),
			Run: otlp.Run{
				Version: o.opts.Version, BenchmarkID: o.opts.BenchmarkID, Provider: provider(t.GenAIProvider, o.urls), Operation: operation(o.plan.endpoint.Name),
				Streaming: o.cfg.Endpoint.Streaming, Servers: o.urls,
			},
			Phases: o.streams.phases, Flush: tuning.FlushInterval.Duration(), Batch: tuning.MaxBatch, Buffered: tuning.MaxBuffered,
			Timeout: tuning.RequestTimeout.Duration(), VerifyTLS: o.cfg.Environment.HTTP.SSLVerify && !o.cfg.Endpoint.TLS.Insecure, Getenv: os.Getenv, Warn: o.say.Warn,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", o.cfg.As("otel.metrics_url"), err)
		}
		o.streams.observers = append(o.streams.observers, stream)
		o.outputs.OnStop(func() error { stream.Close(ctx); return nil })
	}
	return nil
}

// standing returns the current state of the load.
func (s *streams) standing() otlp.Load { return standingOf(s.load.Load()) }

// after keeps the numbers of a phase that has ended.
func (s *streams) after(f *load.PhaseStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, otlp.Load{Phase: f.Info.Name, Sent: f.Sent, Completed: f.Completed, Failed: f.Errors, Cut: f.Cancelled})
}

// phases returns the numbers of all phases that have begun, the current one last.
func (s *streams) phases() []otlp.Load {
	current := s.standing() // first: the phase may end now
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.ended)
	if current.Phase == "" || slices.ContainsFunc(list, func(l otlp.Load) bool { return l.Phase == current.Phase }) {
		return list
	}
	return append(list, current)
}

// standingOf returns the current state of a load; zero for nil, which has not begun.
func standingOf(g *load.Sender) otlp.Load {
	if g == nil {
		return otlp.Load{}
	}
	now := (*g).Snapshot()
	l := otlp.Load{Sent: now.Sent, Completed: now.Completed, Failed: now.Errors, Cut: now.Cancelled, InFlight: now.InFlight()}
	if now.Info != nil {
		l.Phase = now.Info.Name
	}
	return l
}

// gaugesOf returns the state of a load as gauges for the Prometheus page.
func gaugesOf(now otlp.Load) []promserver.Gauge {
	return []promserver.Gauge{
		{Name: "aiperf_requests_sent", Help: "Requests sent in the current phase", Value: float64(now.Sent)},
		{Name: "aiperf_requests_completed", Help: "Requests of the phase that were answered, errors included", Value: float64(now.Completed)},
		{Name: "aiperf_requests_failed", Help: "Requests of the phase that failed", Value: float64(now.Failed)},
		{Name: "aiperf_requests_cancelled", Help: "Requests of the phase that were cancelled", Value: float64(now.Cut)},
		{Name: "aiperf_requests_in_flight", Help: "Requests in flight", Value: float64(now.InFlight)},
	}
}

// pageLabels returns the labels of every sample of the page.
func pageLabels(cfg *config.Benchmark, opts *Options) []promserver.Label {
	names := slices.Sorted(slices.Values(cfg.Models.Names()))
	list := []promserver.Label{
		{Name: "benchmark_id", Value: opts.BenchmarkID}, {Name: "model", Value: strings.Join(names, ",")}, {Name: "endpoint_type", Value: cfg.Endpoint.Type},
		{Name: "streaming", Value: strconv.FormatBool(cfg.Endpoint.Streaming)},
	}
	if p := cfg.Profiling(); p != nil {
		if p.Concurrency != nil {
			list = append(list, promserver.Label{Name: "concurrency", Value: strconv.Itoa(*p.Concurrency)})
		}
		if p.Rate != nil {
			list = append(list, promserver.Label{Name: "request_rate", Value: strconv.FormatFloat(*p.Rate, 'g', -1, 64)})
		}
	}
	return list
}

// operations maps endpoint types to the operation names of the OpenTelemetry conventions. Other types keep their own name.
var operations = map[string]string{
	"chat": "chat", "responses": "chat", "messages": "chat", "kserve_chat": "chat",
	"completions": "text_completion", "kserve_completions": "text_completion", "huggingface_generate": "text_completion", "generate": "text_completion",
	"sglang_generate": "text_completion", "vllm_generate": "text_completion", "kserve": "text_completion", "kserve_v2_infer": "text_completion",
	"embeddings": "embeddings", "chat_embeddings": "embeddings", "nim_embeddings": "embeddings", "kserve_embeddings": "embeddings", "kserve_v2_embeddings": "embeddings", "nvclip": "embeddings",
}

func operation(endpoint string) string {
	if name, ok := operations[endpoint]; ok {
		return name
	}
	return endpoint
}

// providers maps the ends of host names to the provider names of the conventions.
var providers = [][2]string{
	{"openai.azure.com", "azure.ai.openai"}, {"inference.ai.azure.com", "azure.ai.inference"}, {"openai.com", "openai"}, {"anthropic.com", "anthropic"}, {"amazonaws.com", "aws.bedrock"},
	{"generativelanguage.googleapis.com", "gcp.gemini"}, {"aiplatform.googleapis.com", "gcp.vertex_ai"}, {"cohere.com", "cohere"}, {"cohere.ai", "cohere"},
	{"groq.com", "groq"}, {"mistral.ai", "mistral_ai"}, {"deepseek.com", "deepseek"}, {"perplexity.ai", "perplexity"}, {"x.ai", "x_ai"}, {"ml.cloud.ibm.com", "ibm.watsonx.ai"},
}

// provider returns the provider that the user gave, else the one of the first server's host name.
func provider(given string, urls []string) string {
	if given != "" {
		return given
	}
	if len(urls) > 0 {
		if u, err := url.Parse(urls[0]); err == nil {
			for _, p := range providers {
				if host := strings.ToLower(u.Hostname()); host == p[0] || strings.HasSuffix(host, "."+p[0]) {
					return p[1]
				}
			}
		}
	}
	return "_OTHER"
}
