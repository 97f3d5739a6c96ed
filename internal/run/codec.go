package run

import (
	"fmt"

	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/rng"
	"aiperf/internal/transport"
)

// appendTokens is how a codec makes token ids of texts.
func appendTokens(tokenizers func() (*assembly.Tokenizers, error)) func(ids []int32, model, text string) ([]int32, error) {
	return func(ids []int32, model, text string) ([]int32, error) {
		all, err := tokenizers()
		if err != nil {
			return nil, err
		}
		tok := all.Of(model)
		return tok.Append(ids, text), tok.Err()
	}
}

// newExecutor makes what sends the requests of a run over a carrier and hands the finished records on.
func newExecutor(cfg *config.Benchmark, version string, r *resolved, over carrier, to *addresses, put func(*record.Record), warn func(string)) *executor {
	reuse := transport.Reuse(cfg.Endpoint.ConnectionReuse)
	e := &executor{
		data: &prepared{data: r.data}, codec: r.codec, carrier: over, addresses: to, put: put,
		model:    cfg.Models.Items[0].Asked(),
		headers:  headers(cfg, userAgent(version)),
		dialLate: reuse == transport.Never,
		sticky:   reuse == transport.Sticky,
		replies:  r.endpoint.Replies, followsUp: r.endpoint.FollowsUp,
		lengthInBody: r.endpoint.Name == "template" || endpoint.LimitsOutput(assembly.CodecSettings(cfg, false).Extras),
		worker:       "worker_" + rng.UUID()[:8], processor: "record_processor_" + rng.UUID()[:8],
	}
	e.headers.Streaming = r.metrics.Options().Streaming
	if r.endpoint.Auth != nil {
		e.headers.Auth = r.endpoint.Auth(e.headers.APIKey, e.headers.User)
	}
	if t := cfg.Endpoint.Timeout; !t.Infinite() {
		e.timeout = t.Duration()
	}
	for _, p := range r.scenario.Phases {
		e.firstToken = e.firstToken || p.Prefill > 0
		if p.Mode == load.AgenticReplay {
			e.overflow = metric.Overflows
		}
	}
	for _, name := range e.headers.Overridden() {
		warn(fmt.Sprintf("%s %s: this header is set by the client itself; the given value is not sent", cfg.As("endpoint.headers"), name))
	}
	return e
}
