package config

import "strings"

// DefaultRequests returns the number of requests of a phase without a stop condition: max(10, 2 x concurrency). If the concurrency is unlimited,
// prefill concurrency takes its place.
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

// DefaultDir returns the default artifact directory of a run: artifacts/<model>-openai-<type>-<load>. series is the rate series of the measured
// phase; empty if there is none or it is not known yet.
func DefaultDir(b *Benchmark, series []RatePoint) string {
	return "artifacts/" + strings.Join([]string{modelDir(b), "openai", b.Endpoint.Type, stimulus(b.Profiling(), series)}, "-")
}

// OldDir returns the name of GenAI-Perf's directory of a run: <model>-<kind>-<backend or type>-<load>. typ is GenAI-Perf's name of the endpoint type.
// With ownLoad, a payload file sets its own load and the name has no <load> (genai-perf, section 14).
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

// modelDir returns the directory name part for the models of a run.
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

// stimulus returns a short name of the load of a phase. For a rate series it uses the first rate.
func stimulus(p *Phase, series []RatePoint) string {
	concurrency := "concurrency"
	if p.Concurrency != nil {
		concurrency += itoa(*p.Concurrency)
	}
	switch {
	case p.Type == PhaseFixedSchedule:
		return "fixed_schedule"
	case p.Type == PhaseUserCentric:
		return "user_centric-users" + itoa(Value(p.Users)) + "-qps" + FormatFloat(Value(p.Rate))
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

// Value returns what p points to, or zero for nil.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
