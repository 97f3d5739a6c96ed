package results

import (
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
)

// Counts reports whether the client counts tokens itself.
func Counts(b *config.Benchmark, e *endpoint.Endpoint) bool {
	return !b.Endpoint.UseServerTokenCount && (e.ProducesTokens || e.TokenizesInput)
}

// Generates reports whether an endpoint type answers prompts with text.
func Generates(e *endpoint.Endpoint) bool { return e.ProducesTokens && e.TokenizesInput }

// Templated reports whether inputs are counted as the server's chat template renders them (tokenizer.apply_chat_template).
func Templated(b *config.Benchmark, e *endpoint.Endpoint) bool {
	return b.Tokenizer.ApplyChatTemplate && e.SystemMessage
}

// MetricOptions returns which metrics a run has and how they are computed.
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
