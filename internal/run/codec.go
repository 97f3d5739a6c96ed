package run

import (
	"fmt"

	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/results"
	"aiperf/internal/run/watch"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// executorOptions says what an executor sends, and over what.
type executorOptions struct {
	config    *config.Benchmark
	agent     string // value of the header User-Agent
	endpoint  *endpoint.Endpoint
	codec     endpoint.Codec
	data      *inputs.PreparedStore
	client    connection.Client
	addresses *connection.Addresses
	streaming bool          // answers are streams
	phases    []load.Phase  // phases of the load
	watcher   watch.Watcher // follows the requests of the profiling phases; nil = no watcher
	warn      func(string)
}

// newExecutor makes the executor of a run. It drops records until its admission component has started.
func newExecutor(o executorOptions) *executor {
	cfg := o.config
	reuse := transport.Reuse(cfg.Endpoint.ConnectionReuse)
	e := &executor{
		data: o.data, codec: o.codec, framing: o.endpoint.Framing, carrier: o.client, addresses: o.addresses,
		model:    cfg.Models.Items[0].Asked(),
		headers:  connection.Headers(cfg, o.agent),
		dialLate: reuse == transport.Never,
		sticky:   reuse == transport.Sticky,
		replies:  o.endpoint.Replies, followsUp: o.endpoint.FollowsUp,
		lengthInBody: o.endpoint.Name == "template" || endpoint.LimitsOutput(results.CodecSettings(cfg, false).Extras),
		worker:       "worker_" + rng.UUID()[:8], processor: "record_processor_" + rng.UUID()[:8],
	}
	e.put = e.gate.put
	e.headers.Framing = e.framing
	e.headers.Streaming = o.streaming
	if o.endpoint.Auth != nil {
		e.headers.Auth = o.endpoint.Auth(e.headers.APIKey, e.headers.User)
	}
	if t := cfg.Endpoint.Timeout; !t.Infinite() {
		e.timeout = t.Duration()
	}
	if o.watcher != nil {
		e.watcher, e.firstToken = o.watcher, true
	}
	for _, p := range o.phases {
		e.firstToken = e.firstToken || p.Prefill > 0
		if p.Mode == load.AgenticReplay {
			e.overflow = metric.Overflows
		}
	}
	for _, name := range e.headers.Overridden() {
		o.warn(fmt.Sprintf("%s %s: the client sets this header itself; the given value is not sent", cfg.As("endpoint.headers"), name))
	}
	return e
}

// workerName returns the name of the process that sends the requests, as the records have it.
func (e *executor) workerName() string { return e.worker }
