package run

import (
	"fmt"

	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/results"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// appendTokens returns the function with which a codec converts texts to token ids.
func appendTokens(tokenizers func() (*results.Tokenizers, error)) func(ids []int32, model, text string) ([]int32, error) {
	return func(ids []int32, model, text string) ([]int32, error) {
		all, err := tokenizers()
		if err != nil {
			return nil, err
		}
		tok := all.Of(model)
		return tok.Append(ids, text), tok.Err()
	}
}

// newExecutor makes the executor of a run. It sends requests with the client over and passes finished records to put.
func newExecutor(cfg *config.Benchmark, version string, r *runPlan, over protocolClient, to *addresses, put func(*record.Record), warn func(string)) *executor {
	reuse := transport.Reuse(cfg.Endpoint.ConnectionReuse)
	e := &executor{
		data: &preparedStore{data: r.data}, codec: r.codec, framing: r.endpoint.Framing, carrier: over, addresses: to, put: put,
		model:    cfg.Models.Items[0].Asked(),
		headers:  headers(cfg, userAgent(version)),
		dialLate: reuse == transport.Never,
		sticky:   reuse == transport.Sticky,
		replies:  r.endpoint.Replies, followsUp: r.endpoint.FollowsUp,
		lengthInBody: r.endpoint.Name == "template" || endpoint.LimitsOutput(results.CodecSettings(cfg, false).Extras),
		worker:       "worker_" + rng.UUID()[:8], processor: "record_processor_" + rng.UUID()[:8],
	}
	e.headers.Framing = e.framing
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
		warn(fmt.Sprintf("%s %s: the client sets this header itself; the given value is not sent", cfg.As("endpoint.headers"), name))
	}
	return e
}
