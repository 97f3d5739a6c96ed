package artifact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"aiperf/internal/endpoint"
	"aiperf/internal/jsontext"
	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/redact"
	"aiperf/internal/sse"
)

// Raw writes the raw JSONL: one line per request with all that was sent and received. It is what a report can be made from again.
type Raw struct {
	*stream
	RawOptions
}

// RawOptions say what the lines of a raw export hold beside the exchange itself.
type RawOptions struct {
	BenchmarkID string // of the run, so that its lines are known as its own; "" = left out
	Trace       bool   // the headers of both sides among the socket instants
}

// CreateRaw begins the file, for its owner alone.
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
		o.B = appendMessage(o.B, &rec.Messages[i])
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
			traced.RequestHeaders, traced.ResponseHeaders = nil, nil // nobody asked for them
		}
		o.Key("trace_data")
		o.B = appendTrace(o.B, &traced)
	}
	o.TextIfAny("benchmark_id", w.BenchmarkID)
	return append(o.Close(), '\n')
}

// appendMessage writes one event with its fields, or one body. AIPerf's classes refuse any other key here.
func appendMessage(b []byte, m *record.Message) []byte {
	o := jsontext.Open(b)
	o.Int("perf_ns", m.At)
	switch {
	case binary(m):
		o.Text("raw_bytes", "") // the bytes are not kept
		o.Text("content_type", m.ContentType)
	case m.Body:
		o.Text("text", string(m.Raw))
		o.TextIfAny("content_type", m.ContentType)
	default:
		o.Key("packets")
		o.B = appendPackets(o.B, m)
	}
	return o.Close()
}

// binary tells whether a message is a body that is not text, of which the size alone is known.
func binary(m *record.Message) bool { return m.Body && m.Raw == nil && m.Size > 0 }

// appendBeside writes what is known of the responses beyond AIPerf's keys, as lists with an entry for each response: response_uncertain_ns (by how
// much earlier one may have come), response_clocks (where they differ) and response_sizes (of binary bodies). A list without anything is left out.
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
			return int64(m.Size)
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

// appendExchanges writes what followed the first exchange of a request, polls and downloads, each with its instants.
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

func appendPackets(b []byte, m *record.Message) []byte {
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
	if m.Fields != nil {
		for _, f := range m.Fields {
			put(f.Name, f.Value, false)
		}
	} else {
		for _, f := range sse.Fields(m.Raw) {
			put(f.Name, f.Value, f.Null)
		}
	}
	return append(b, ']')
}

// appendPayload writes a request body: JSON as it is but on one line, anything else as a string.
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
