package config

import "strings"

// DefaultRequests is the number of requests of a phase without a stop condition: max(10, 2 x concurrency), where prefill concurrency
// stands in for an unlimited concurrency.
func DefaultRequests(p *Phase) int {
	limit := 1
	switch {
	case p.Concurrency != nil:
		limit = *p.Concurrency
	case p.PrefillConcurrency != nil:
		limit = *p.PrefillConcurrency
	}
	return max(10, 2*limit)
}

// DefaultDir is the artifact directory of a run for which none was given: artifacts/<model>-openai-<type>-<load>. series is the rate series
// of the measured phase, empty when there is none or it is not known yet.
func DefaultDir(b *Benchmark, series []RatePoint) string {
	return "artifacts/" + strings.Join([]string{modelDir(b), "openai", b.Endpoint.Type, stimulus(b.Profiling(), series)}, "-")
}

// OldDir is the name of GenAI-Perf's directory of a run: <model>-<kind>-<backend or type>-<load>. typ is the endpoint type in its words; a file of
// payloads that chooses its own load has none (genai-perf, section 14).
func OldDir(b *Benchmark, typ string, ownLoad bool) string {
	parts := []string{modelDir(b)}
	switch b.Endpoint.Type {
	case "kserve":
		backend := b.Endpoint.Backend
		if backend == "" {
			backend = "tensorrtllm"
		}
		parts = append(parts, "triton", backend)
	case "dynamic_grpc":
		parts = append(parts, "dynamic_grpc", typ)
	default:
		parts = append(parts, "openai", typ)
	}
	if !ownLoad {
		parts = append(parts, stimulus(b.Profiling(), nil))
	}
	return strings.Join(parts, "-")
}

// modelDir is the models of a run in the name of its directory.
func modelDir(b *Benchmark) string {
	model := "model"
	if len(b.Models.Items) > 0 {
		model = strings.NewReplacer("/", "_", `\`, "_").Replace(b.Models.Items[0].Name)
	}
	if len(b.Models.Items) > 1 {
		model += "_multi"
	}
	return model
}

// stimulus is the load of a phase in a few letters. A rate series goes by its first rate.
func stimulus(p *Phase, series []RatePoint) string {
	concurrency := "concurrency"
	if p.Concurrency != nil {
		concurrency += itoa(*p.Concurrency)
	}
	switch {
	case p.Type == PhaseFixedSchedule:
		return "fixed_schedule"
	case p.Type == PhaseUserCentric:
		return "user_centric-users" + itoa(value(p.Users)) + "-qps" + FormatFloat(value(p.Rate))
	case p.Type.HasRate():
		rate := "request_rate"
		switch {
		case p.Rate != nil:
			rate += FormatFloat(*p.Rate)
		case len(series) > 0:
			rate += FormatFloat(series[0].QPS)
		default:
			rate += "_series"
		}
		if p.Concurrency != nil {
			return concurrency + "-" + rate
		}
		return rate
	case p.Concurrency == nil && p.PrefillConcurrency != nil:
		return "prefill_concurrency" + itoa(*p.PrefillConcurrency)
	}
	return concurrency
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
