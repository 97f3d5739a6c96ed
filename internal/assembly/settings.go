package assembly

import (
	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/record"
)

// Counts tells whether the client counts tokens itself.
func Counts(b *config.Benchmark, e *endpoint.Endpoint) bool {
	return !b.Endpoint.UseServerTokenCount && (e.ProducesTokens || e.TokenizesInput)
}

// Generates reports whether an endpoint type answers prompts with text.
func Generates(e *endpoint.Endpoint) bool { return e.ProducesTokens && e.TokenizesInput }

// Templated tells whether inputs are measured as the server's chat template writes them (tokenizer.apply_chat_template).
func Templated(b *config.Benchmark, e *endpoint.Endpoint) bool {
	return b.Tokenizer.ApplyChatTemplate && e.SystemMessage
}

// MetricOptions are which metrics a run has and how they are computed.
func MetricOptions(b *config.Benchmark, e *endpoint.Endpoint) metric.Options {
	p := b.Profiling()
	o := metric.Options{
		Streaming: b.Endpoint.Streaming && e.Streams, ProducesTokens: e.ProducesTokens, TokenizesInput: e.TokenizesInput,
		ImageInput: e.Images, AudioInput: e.Audio, VideoOutput: e.Produces == record.Video, FixedSchedule: p != nil && p.Type == config.PhaseFixedSchedule,
		Spell: b.As, ServerTokens: b.Endpoint.UseServerTokenCount, PerChunkUsage: b.Endpoint.PerChunkUsage,
		Thresholds: &metric.Thresholds{
			UsagePct:  b.Environment.Metrics.UsagePctDiffThreshold,
			OSLPct:    b.Environment.Metrics.OSLMismatchPct,
			OSLTokens: float64(b.Environment.Metrics.OSLMismatchMaxTokens),
		},
	}
	for i, s := range b.SLOs {
		if i > 0 {
			o.Goodput += " "
		}
		o.Goodput += s.Tag + ":" + config.FormatFloat(s.Threshold)
	}
	return o
}
