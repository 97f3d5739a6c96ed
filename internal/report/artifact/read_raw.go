package artifact

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
)

// ReadRaw reads a raw export of aiperf or the Python tool, request by request. visit may keep its argument.
func ReadRaw(path string, visit func(*record.Record) error) error {
	f, err := boundedfile.Open(path)
	if err != nil {
		return fmt.Errorf("raw export: %w", err)
	}
	defer f.Close()
	for lines := newRawLines(f, path); ; {
		v, messages, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rec, err := rawRecord(v, messages)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, lines.n, err)
		}
		if err := visit(rec); err != nil {
			return err
		}
	}
}

// ownClock marks a message whose line does not name the clock of its instant; it is replaced by the record's clock.
const ownClock = record.Clock(255)

// rawRecord rebuilds the record of one line. Instants are those of the exporting process; wall instants are converted to its monotonic clock with the
// pair of instants in the line.
func rawRecord(v *fastjson.Value, messages []record.Message) (*record.Record, error) {
	md := v.Get("metadata")
	if md == nil || md.Type() != fastjson.TypeObject {
		return nil, fmt.Errorf("no metadata, so this is not a raw export (profile_export_raw.jsonl)")
	}
	start := v.GetInt64("start_perf_ns")
	wall := md.GetInt64("request_start_ns")
	if start <= 0 || wall <= 0 {
		return nil, fmt.Errorf("start_perf_ns is %d and request_start_ns is %d, but both must be above 0", start, wall)
	}
	r := &record.Record{Meta: readMeta(md), Start: start, WallOffset: wall - start, ClockOffset: v.GetInt64("clock_offset_ns"), Status: v.GetInt("status")}
	at := func(key string) int64 { return place(md, key, r.WallOffset) }
	r.Intended, r.Issued, r.Ack, r.End = at("scheduled_ns"), at("credit_issued_ns"), at("request_ack_ns"), at("request_end_ns")
	r.CancelledAt = at("cancellation_time_ns")
	if md.GetBool("was_cancelled") && r.CancelledAt == 0 {
		r.CancelledAt = max(r.End, r.Start)
	}
	r.Cut = text(md.Get("cut_reason"))
	readHeaders(v.Get("request_headers"), &r.RequestHeaders)
	readHeaders(v.Get("trace_data", "response_headers"), &r.ResponseHeaders)
	first := record.ParseClock(text(v.Get("trace_data", "clock")))
	for _, m := range v.GetArray("responses") { // none, unless the key was spelled with escapes
		messages = append(messages, readMessage(m))
	}
	readBeside(v, messages)
	for i := range messages {
		if messages[i].Clock == ownClock {
			messages[i].Clock = first
		}
	}
	r.Messages = messages
	r.Error = readError(v.Get("error"))
	if p := v.Get("payload"); p != nil {
		if p.Type() == fastjson.TypeString {
			r.Payload = record.Plain(append([]byte(nil), p.GetStringBytes()...))
		} else {
			r.Payload = record.Plain(p.MarshalTo(nil))
		}
		r.Model = text(p.Get("model"))
		if v.Get("benchmark_id") == nil { // our own lines say below what was requested, so a default of the endpoint type does not count
			r.MaxTokens = endpoint.RequestedTokens(r.Payload.Bytes())
		}
	}
	if n := v.GetInt("requested_osl"); n > 0 {
		r.MaxTokens = n
	}
	if r.Error == nil && r.Status >= 400 {
		r.Error = statusError(r, text(v.Get("trace_data", "response_reason")))
	}
	r.BenchmarkID = text(v.Get("benchmark_id"))
	r.Trace = readTrace(v.Get("trace_data"), r.WallOffset)
	return r, nil
}

// readBeside reads the lists that appendBeside wrote.
func readBeside(v *fastjson.Value, messages []record.Message) {
	each := func(key string, set func(*record.Message, *fastjson.Value)) {
		for i, one := range v.GetArray(key) {
			if i < len(messages) {
				set(&messages[i], one)
			}
		}
	}
	each("response_uncertain_ns", func(m *record.Message, one *fastjson.Value) { m.UncertainNs, _ = one.Int64() })
	each("response_sizes", func(m *record.Message, one *fastjson.Value) {
		if n, err := one.Int(); err == nil && n > 0 {
			if m.Details == nil {
				m.Details = new(record.Details)
			}
			m.Details.Size = n
		}
	})
	each("response_clocks", func(m *record.Message, one *fastjson.Value) { m.Clock = record.ParseClock(text(one)) })
}

// statusError returns the error that an HTTP status means, for a line that names no error.
func statusError(r *record.Record, reason string) *record.Error {
	if reason == "" {
		reason = http.StatusText(r.Status)
	}
	e := &record.Error{Code: r.Status, Type: reason}
	if len(r.Messages) > 0 {
		e.Message = string(r.Messages[0].Raw)
	}
	return e
}
