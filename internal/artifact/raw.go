package artifact

import (
	"bytes"
	"encoding/json"

	"aiperf/internal/endpoint"
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
	o := open(dst)
	o.key("metadata")
	o.b = appendMetadata(o.b, rec)
	o.int("start_perf_ns", rec.Start)
	appendHeaders(&o, "request_headers", rec.RequestHeaders)
	if rec.Status != 0 {
		o.int("status", int64(rec.Status))
	}
	o.key("responses")
	o.b = append(o.b, '[')
	for i := range rec.Messages {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendMessage(o.b, &rec.Messages[i], rec.Messages[0].Clock)
	}
	o.b = append(o.b, ']')
	appendExchanges(&o, rec.Exchanges)
	if row.Err != nil {
		o.key("error")
		o.b = appendError(o.b, row.Err)
	}
	if rec.Payload.Len() > 0 {
		o.key("payload")
		payload := rec.Payload.Bytes()
		if object, ok := endpoint.FormJSON(payload); ok {
			payload = object
		}
		o.b = appendPayload(o.b, payload)
	}
	if rec.MaxTokens > 0 {
		o.int("requested_osl", int64(rec.MaxTokens))
	}
	if rec.Trace != nil {
		traced := *rec
		if !w.Trace {
			traced.RequestHeaders, traced.ResponseHeaders = nil, nil // nobody asked for them
		}
		o.key("trace_data")
		o.b = appendTrace(o.b, &traced)
	}
	o.text("benchmark_id", w.BenchmarkID)
	return append(o.close(), '\n')
}

// appendMessage writes one event with its fields, or one body. How uncertain its instant is stands beside it; its clock where it is
// not that of the first message, which stands in the trace.
func appendMessage(b []byte, m *record.Message, first record.Clock) []byte {
	o := open(b)
	o.int("perf_ns", m.At)
	o.instant("uncertain_ns", m.UncertainNs)
	if m.Clock != first {
		o.str("clock", m.Clock.String())
	}
	switch {
	case m.Body && m.Raw == nil && m.Size > 0:
		o.str("content_type", m.ContentType)
		o.int("size", int64(m.Size))
	case m.Body:
		o.str("text", string(m.Raw))
		o.text("content_type", m.ContentType)
	default:
		o.key("packets")
		o.b = appendPackets(o.b, m)
	}
	return o.close()
}

// appendExchanges writes what followed the first exchange of a request, polls and downloads, each with its instants.
func appendExchanges(o *object, list []record.Exchange) {
	if len(list) == 0 {
		return
	}
	o.key("exchanges")
	for i := range list {
		o.b = append(o.b, "[,"[min(i, 1)])
		x, e := &list[i], open(o.b)
		e.str("method", x.Method)
		e.str("url", redact.URL(x.URL))
		e.int("start_perf_ns", x.Start)
		e.instant("ack_perf_ns", x.Ack)
		e.int("end_perf_ns", x.End)
		e.int("status", int64(x.Status))
		e.int("size", int64(x.Bytes))
		o.b = e.close()
	}
	o.b = append(o.b, ']')
}

func appendPackets(b []byte, m *record.Message) []byte {
	b = append(b, '[')
	n := 0
	put := func(name, value string, null bool) {
		if n++; n > 1 {
			b = append(b, ',')
		}
		p := open(b)
		p.str("name", name)
		if !null {
			p.str("value", value)
		}
		b = p.close()
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
		return appendString(b, string(payload))
	}
	if bytes.IndexByte(payload, '\n') < 0 && bytes.IndexByte(payload, '\r') < 0 {
		return append(b, payload...)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, payload); err != nil {
		return appendString(b, string(payload))
	}
	return append(b, line.Bytes()...)
}
