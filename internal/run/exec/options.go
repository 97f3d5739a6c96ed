package exec

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

// Options says what an executor sends, and over what.
type Options struct {
	Config    *config.Benchmark
	Agent     string // value of the header User-Agent
	Endpoint  *endpoint.Endpoint
	Codec     endpoint.Codec
	Data      *inputs.PreparedStore
	Client    connection.Client
	Addresses *connection.Addresses
	Streaming bool          // answers are streams
	Phases    []load.Phase  // phases of the load
	Worker    string        // name of this process in the records; "" = a random one
	Watcher   watch.Watcher // follows the requests of the profiling phases; nil = no watcher
	Warn      func(string)
}

// New makes the executor of a run. It drops records until its admission component has started.
func New(o Options) *Executor {
	cfg := o.Config
	reuse := transport.Reuse(cfg.Endpoint.ConnectionReuse)
	e := &Executor{
		data: o.Data, codec: o.Codec, framing: o.Endpoint.StreamFraming(o.Streaming), carrier: o.Client, addresses: o.Addresses,
		model:    cfg.Models.Items[0].Asked(),
		headers:  connection.Headers(cfg, o.Agent),
		dialLate: reuse == transport.Never,
		sticky:   reuse == transport.Sticky,
		replies:  o.Endpoint.Replies, followsUp: o.Endpoint.FollowsUp, noLength: o.Endpoint.NoLength,
		lengthInBody: o.Endpoint.Name == "template" || endpoint.LimitsOutput(results.CodecSettings(cfg, false).Extras),
		worker:       "worker_" + rng.UUID()[:8], processor: "record_processor_" + rng.UUID()[:8],
	}
	if o.Worker != "" {
		e.worker = o.Worker
	}
	e.put = e.gate.put
	e.headers.Framing = e.framing
	e.headers.Streaming = o.Streaming
	if o.Endpoint.Auth != nil {
		e.headers.Auth = o.Endpoint.Auth(e.headers.APIKey, e.headers.User)
	}
	if t := cfg.Endpoint.Timeout; !t.Infinite() {
		e.timeout = t.Duration()
	}
	if o.Watcher != nil {
		e.watcher, e.firstToken = o.Watcher, true
	}
	for _, p := range o.Phases {
		e.firstToken = e.firstToken || p.Prefill > 0
		if p.Mode == load.AgenticReplay {
			e.overflow = metric.Overflows
		}
	}
	for _, name := range e.headers.Overridden() {
		o.Warn(fmt.Sprintf("%s %s: the client sets this header itself; the given value is not sent", cfg.As("endpoint.headers"), name))
	}
	return e
}

// WorkerName returns the name of the process that sends the requests, as the records have it.
func (e *Executor) WorkerName() string { return e.worker }
