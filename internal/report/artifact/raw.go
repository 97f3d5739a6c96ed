package artifact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/framing"
)

// Raw writes the raw JSONL: one line per request with everything that was sent and received. A report can be made again from it.
type Raw struct {
	*stream
	RawOptions
}

// RawOptions selects what the lines of a raw export contain besides the exchange.
type RawOptions struct {
	BenchmarkID string         // id of the run, by which its lines are recognised; "" = omitted
	Trace       bool           // include the headers of both sides with the socket instants
	Framing     framing.Format // of answers that stream; nil = server-sent events
}

// CreateRaw creates the file, readable only by the owner.
func CreateRaw(path string, o RawOptions) (*Raw, error) {
	s, err := create(path, true)
	return &Raw{s, o}, err
}

// Encode appends the line of a request.
func (w *Raw) Encode(dst []byte, rec *record.Record, _ *record.Reply, row *metric.Row) []byte {
	o := jsontext.Open(dst)
	o.Key("metadata")
	o.B = appendMetadata(o.B, rec)
	o.Int("start_perf_ns", rec.Start)
	if rec.ClockOffset != 0 {
		o.Int("clock_offset_ns", rec.ClockOffset)
	}
	appendHeaders(&o, "request_headers", rec.RequestHeaders)
	if rec.Status != 0 {
		o.Int("status", int64(rec.Status))
	}
	o.Key("responses")
	o.B = append(o.B, '[')
	for i := range rec.Messages {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = appendMessage(o.B, framing.OrSSE(w.Framing), &rec.Messages[i])
	}
	o.B = append(o.B, ']')
	appendBeside(&o, rec.Messages)
	appendExchanges(&o, rec.Exchanges)
	if row.Err != nil {
		o.Key("error")
		o.B = appendError(o.B, row.Err)
	}
	if rec.Payload.Len() > 0 {
		o.Key("payload")
		payload := rec.Payload.Bytes()
		if object, ok := endpoint.FormJSON(payload); ok {
			payload = object
		}
		o.B = appendPayload(o.B, payload)
	}
	if rec.MaxTokens > 0 {
		o.Int("requested_osl", int64(rec.MaxTokens))
	}
	if rec.Trace != nil {
		traced := *rec
		if !w.Trace {
			traced.RequestHeaders, traced.ResponseHeaders = nil, nil // headers were not requested
		}
		o.Key("trace_data")
		o.B = appendTrace(o.B, &traced)
	}
	o.TextIfAny("benchmark_id", w.BenchmarkID)
	return append(o.Close(), '\n')
}

// appendMessage writes one event with its fields, or one body. AIPerf's classes accept no other keys here.
func appendMessage(b []byte, f framing.Format, m *record.Message) []byte {
	o := jsontext.Open(b)
	o.Int("perf_ns", m.At)
	switch {
	case binary(m):
		o.Text("raw_bytes", "") // the bytes are not kept
		o.Text("content_type", m.ContentType())
	case m.Body:
		o.Text("text", string(m.Raw))
		o.TextIfAny("content_type", m.ContentType())
	default:
		o.Key("packets")
		o.B = appendPackets(o.B, f, m)
	}
	return o.Close()
}

// binary reports whether a message is a body that is not text; only its size is known.
func binary(m *record.Message) bool { return m.Body && m.Raw == nil && m.Size() > 0 }

// appendBeside writes data on the responses beyond AIPerf's keys, as lists with one entry per response: response_uncertain_ns (how much earlier it may
// have arrived), response_clocks (where they differ) and response_sizes (of binary bodies). A list without any value is omitted.
func appendBeside(o *jsontext.Object, list []record.Message) {
	numbers := func(key string, of func(*record.Message) int64) {
		last := len(list)
		for last > 0 && of(&list[last-1]) <= 0 {
			last--
		}
		if last == 0 {
			return
		}
		o.Key(key)
		for i := range last {
			o.B = strconv.AppendInt(append(o.B, "[,"[min(i, 1)]), max(of(&list[i]), 0), 10)
		}
		o.B = append(o.B, ']')
	}
	numbers("response_uncertain_ns", func(m *record.Message) int64 { return m.UncertainNs })
	numbers("response_sizes", func(m *record.Message) int64 {
		if binary(m) {
			return int64(m.Size())
		}
		return 0
	})
	if !slices.ContainsFunc(list, func(m record.Message) bool { return m.Clock != list[0].Clock }) {
		return
	}
	o.Key("response_clocks")
	for i := range list {
		o.B = jsontext.AppendString(append(o.B, "[,"[min(i, 1)]), list[i].Clock.String())
	}
	o.B = append(o.B, ']')
}

// appendExchanges writes the exchanges after the first one of a request, polls and downloads, each with its instants.
func appendExchanges(o *jsontext.Object, list []record.Exchange) {
	if len(list) == 0 {
		return
	}
	o.Key("exchanges")
	for i := range list {
		o.B = append(o.B, "[,"[min(i, 1)])
		x, e := &list[i], jsontext.Open(o.B)
		e.Text("method", x.Method)
		e.Text("url", redact.URL(x.URL))
		e.Int("start_perf_ns", x.Start)
		e.IntIfPositive("ack_perf_ns", x.Ack)
		e.Int("end_perf_ns", x.End)
		e.Int("status", int64(x.Status))
		e.Int("size", int64(x.Bytes))
		o.B = e.Close()
	}
	o.B = append(o.B, ']')
}

func appendPackets(b []byte, f framing.Format, m *record.Message) []byte {
	b = append(b, '[')
	n := 0
	put := func(name, value string, null bool) {
		if n++; n > 1 {
			b = append(b, ',')
		}
		p := jsontext.Open(b)
		p.Text("name", name)
		if !null {
			p.Text("value", value)
		}
		b = p.Close()
	}
	if m.Fields() != nil {
		for _, f := range m.Fields() {
			put(f.Name, f.Value, false)
		}
	} else {
		var e framing.Event
		f.Parse(&e, m.Raw)
		for _, f := range e.Fields() {
			put(f.Name, f.Value, f.Null)
		}
	}
	return append(b, ']')
}

// appendPayload writes a request body: JSON on one line but otherwise unchanged, anything else as a string.
func appendPayload(b, payload []byte) []byte {
	if !json.Valid(payload) {
		return jsontext.AppendString(b, string(payload))
	}
	if bytes.IndexByte(payload, '\n') < 0 && bytes.IndexByte(payload, '\r') < 0 {
		return append(b, payload...)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, payload); err != nil {
		return jsontext.AppendString(b, string(payload))
	}
	return append(b, line.Bytes()...)
}
