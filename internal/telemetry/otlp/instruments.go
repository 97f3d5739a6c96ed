package otlp

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net/url"
	"strconv"
	"sync/atomic"

	"aiperf/internal/base/protobuf"
	rows "aiperf/internal/measure/metric"
)

// scope names the program as the source of the data, schemaURL the version of the conventions.
const (
	scope     = "aiperf"
	schemaURL = "https://opentelemetry.io/schemas/1.41.0"
)

// instruments makes metrics and spans from finished requests.
type instruments struct {
	run    *Run
	phases func() []Load    // nil = the state of the load is not streamed
	queue  chan []byte      // encoded spans that wait; nil = no spans
	begins atomic.Int64     // number of started spans
	start  int64            // of the metrics, ns
	last   int64            // previous delivery, ns; used only by collect
	counts map[string]int64 // of the previous delivery; used only by collect

	histograms, counters temporality

	all     []*histogram
	seconds []seconds  // of requests; empty = no metrics are streamed
	chunks  *histogram // times between content messages; nil = no metrics of requests are streamed
	tokens  *histogram
}

// seconds is a distribution of a request metric that is stored in ns.
type seconds struct {
	tag    string
	failed bool // failed requests have it too
	to     *histogram
}

// Bucket bounds as the conventions recommend: latencies and times between chunks in s, tokens.
var (
	durationBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	firstBounds    = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	chunkBounds    = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

func newInstruments(o *Options) *instruments {
	i := &instruments{run: &o.Run, counts: map[string]int64{}}
	i.histograms, i.counters = temporalities(o.Getenv(preference))
	i.start = wall()
	i.last = i.start
	if o.Traces {
		i.queue = make(chan []byte, max(1, o.Buffered))
	}
	if o.Metrics {
		i.requests()
	}
	if o.Timing {
		i.phases = o.Phases
		i.timing()
	}
	return i
}

// histogram creates a histogram and adds it to the deliveries.
func (i *instruments) histogram(name, unit, about string, bounds []float64) *histogram {
	h := newHistogram(name, unit, about, bounds)
	i.all = append(i.all, h)
	return h
}

// requests creates the instruments of request metrics. Names, units and descriptions are those of the conventions.
func (i *instruments) requests() {
	first := i.histogram("gen_ai.client.operation.time_to_first_chunk", "s", "Time to receive the first chunk, measured from when the client issues the generation request "+
		"to when the first chunk is received in the response stream.", firstBounds)
	duration := i.histogram("gen_ai.client.operation.duration", "s", "GenAI operation duration.", durationBounds)
	i.chunks = i.histogram("gen_ai.client.operation.time_per_output_chunk", "s", "Time per output chunk, recorded for each chunk received after the first one, "+
		"measured as the time elapsed from the end of the previous chunk to the end of the current chunk.", chunkBounds)
	i.tokens = i.histogram("gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", tokenBounds)
	i.seconds = append(i.seconds, seconds{tag: "time_to_first_token", to: first}, seconds{tag: "", failed: true, to: duration})
}

// timing creates the instruments of the load.
func (i *instruments) timing() {
	for _, d := range []struct{ name, tag, about string }{
		{"aiperf.schedule.lag", "schedule_lag", "Time from the instant at which a request was due to the instant at which it was released."},
		{"aiperf.dispatch.lag", "dispatch_lag", "Time from the release of a request to the sending of its first byte."},
	} {
		i.seconds = append(i.seconds, seconds{tag: d.tag, failed: true, to: i.histogram(d.name, "s", d.about, firstBounds)})
	}
}

// collect encodes all metrics that have values, at an instant in ns.
func (i *instruments) collect(now int64) (list [][]byte) {
	since := func(kind temporality) int64 {
		if kind == delta {
			return i.last
		}
		return i.start
	}
	for _, h := range i.all {
		if m, ok := h.metric(since(i.histograms), now, i.histograms); ok {
			list = append(list, m)
		}
	}
	if i.phases != nil {
		list = append(list, i.phaseCounts(i.phases(), since(i.counters), now)...)
	}
	i.last = now
	return list
}

// phaseCounts encodes the numbers of requests of all phases that have begun. A phase that has ended is included, or its last requests would never be
// counted.
func (i *instruments) phaseCounts(phases []Load, began, now int64) [][]byte {
	if len(phases) == 0 {
		return nil
	}
	var sent, ended []observed
	var inFlight observed
	for _, l := range phases {
		phase := attribute{"aiperf.phase.name", l.Phase}
		sent = append(sent, observed{l.Sent, []attribute{phase}})
		for _, o := range []struct {
			outcome string
			n       int64
		}{{"success", l.Completed - l.Failed}, {"error", l.Failed}, {"cancelled", l.Cut}} {
			ended = append(ended, observed{o.n, []attribute{phase, {"aiperf.outcome", o.outcome}}})
		}
		inFlight = observed{l.InFlight, []attribute{phase}}
	}
	return [][]byte{
		counter("aiperf.requests.sent", "{request}", "Requests sent in the phase.", began, now, i.counters, sent, i.counts),
		counter("aiperf.requests.ended", "{request}", "Requests of the phase that have ended, by outcome.", began, now, i.counters, ended, i.counts),
		gauge("aiperf.requests.in_flight", "{request}", "Requests of the current phase that were sent and have not ended yet.", now, inFlight),
	}
}

// Observe adds a finished request. It does not wait for the collector.
func (i *instruments) Observe(row *rows.Row) {
	about := i.about(row)
	if i.queue != nil {
		i.span(row, about)
	}
	if row.Class == rows.Cut || len(i.seconds) == 0 {
		return
	}
	if row.Err != nil {
		about = append(about, attribute{"error.type", errorType(row)})
	}
	for _, d := range i.seconds {
		if v, ok := d.of(row); ok {
			d.to.record(v, about)
		}
	}
	if i.tokens == nil {
		return
	}
	for _, gap := range row.Gaps {
		i.chunks.record(gap/1e9, about)
	}
	for _, t := range []struct{ tag, kind string }{{"input_sequence_length", "input"}, {"output_sequence_length", "output"}} {
		if v, ok := row.Value(t.tag); ok {
			i.tokens.record(math.Round(v), append(about[:len(about):len(about)], attribute{"gen_ai.token.type", t.kind}))
		}
	}
}

// of returns the value of a request in s. Without a tag it is the time from its start to its end.
func (d *seconds) of(row *rows.Row) (float64, bool) {
	if row.Class != rows.Valid && !d.failed {
		return 0, false
	}
	if d.tag == "" {
		if v, ok := row.Value("request_latency"); ok {
			return v / 1e9, true
		}
		return float64(row.End-row.Start) / 1e9, true
	}
	v, ok := row.Value(d.tag)
	return v / 1e9, ok
}

// about returns the attributes of a request that the conventions require.
func (i *instruments) about(row *rows.Row) []attribute {
	phase := "profiling"
	if row.Meta.Warmup {
		phase = "warmup"
	}
	list := []attribute{
		{"gen_ai.operation.name", i.run.Operation}, {"gen_ai.provider.name", i.run.Provider}, {"gen_ai.request.model", row.Meta.Model}, {"aiperf.phase", phase},
	}
	if n := row.Meta.URLIndex; n >= 0 && n < len(i.run.Servers) {
		list = append(list, server(i.run.Servers[n])...)
	}
	return list
}

// server returns the attributes for the address of a server.
func server(address string) []attribute {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	list := []attribute{{"server.address", u.Hostname()}}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		list = append(list, attribute{"server.port", int64(port)})
	}
	return list
}

// errorType returns the status of an HTTP error, else the kind of the failure; both have few distinct values.
func errorType(row *rows.Row) string {
	if row.Err.Code >= 400 && row.Err.Code != 499 {
		return strconv.Itoa(row.Err.Code)
	}
	return row.Err.Type
}

// Field values of OTLP's span.
const (
	kindClient  = 3
	statusError = 2
	// sampled; the parent, which does not exist, is not remote.
	spanFlags = 0x101
)

// span encodes the span of a request, from its start to its end on the wall clock. It is dropped if too many spans wait.
func (i *instruments) span(row *rows.Row, about []attribute) {
	m := &row.Meta
	about = append(about[:len(about):len(about)],
		attribute{"gen_ai.conversation.id", m.CorrelationID}, attribute{"gen_ai.request.stream", i.run.Streaming},
		attribute{"aiperf.request_id", m.RequestID}, attribute{"aiperf.turn", int64(m.TurnIndex)}, attribute{"aiperf.session", m.SessionNum})
	if m.MaxTokens > 0 {
		about = append(about, attribute{"gen_ai.request.max_tokens", int64(m.MaxTokens)})
	}
	if v, ok := row.Value("input_sequence_length"); ok {
		about = append(about, attribute{"gen_ai.usage.input_tokens", int64(v)})
	}
	if v, ok := row.Value("output_sequence_length"); ok {
		about = append(about, attribute{"gen_ai.usage.output_tokens", int64(v)})
	}
	first, streamed := row.Value("time_to_first_token")
	if streamed {
		about = append(about, attribute{"gen_ai.response.time_to_first_chunk", first / 1e9})
	}
	if row.Err != nil {
		about = append(about, attribute{"error.type", errorType(row)})
	}
	i.begins.Add(1)
	var span protobuf.Message
	span.Bytes(1, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, rand.Uint64()), rand.Uint64()|1)) // ids must not be zero
	span.Bytes(2, binary.LittleEndian.AppendUint64(nil, rand.Uint64()|1))
	span.StringIfAny(5, i.run.Operation+" "+m.Model)
	span.Varint(6, kindClient)
	span.Fixed64(7, uint64(row.Start))
	span.Fixed64(8, uint64(row.End))
	appendAttributes(&span, 9, about)
	if streamed {
		var event protobuf.Message
		event.Fixed64(1, uint64(row.Start+int64(first)))
		event.StringIfAny(2, "aiperf.first_token")
		span.Bytes(11, event)
	}
	if row.Err != nil {
		var status protobuf.Message
		status.StringIfAny(2, row.Err.Type)
		status.Varint(3, statusError)
		span.Bytes(15, status)
	}
	span.Fixed32(16, spanFlags)
	select {
	case i.queue <- span:
	default: // Close counts the spans that were started but not delivered
	}
}

// begun returns the number of spans so far.
func (i *instruments) begun() int64 { return i.begins.Load() }
