package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/measure/record"
)

// ReadTraces reads the socket instants of the requests from a records file of aiperf or the Python tool, by request id. They come from trace_data in
// wall ns. A line with only the durations of the parts (http_req_*) gives a trace with these durations. Without the file the result is empty.
func ReadTraces(path string) (map[string]*record.Trace, error) {
	f, err := boundedfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	defer f.Close()
	traces := map[string]*record.Trace{}
	for lines := newRawLines(f, path); ; {
		v, _, err := lines.next()
		if errors.Is(err, io.EOF) {
			return traces, nil
		}
		if err != nil {
			return nil, err
		}
		id := text(v.Get("metadata", "x_request_id"))
		t := readTrace(v.Get("trace_data"), 0)
		if t == nil {
			t = spans(v.Get("metrics"), v.GetInt64("metadata", "request_start_ns"))
		}
		if id != "" && t != nil {
			traces[id] = t
		}
	}
}

// spans makes a trace from the durations of its parts, which all start at one instant; nil if the line has none.
func spans(metrics *fastjson.Value, from int64) *record.Trace {
	if metrics == nil || metrics.Get("http_req_duration") == nil && metrics.Get("http_req_sending") == nil {
		return nil
	}
	value := func(tag string) (float64, bool) {
		v := metrics.Get("http_req_"+tag, "value")
		if v == nil {
			return 0, false
		}
		f, err := v.Float64()
		return f, err == nil
	}
	t := &record.Trace{Spans: true}
	part := func(tag string, start, end *int64, at int64) int64 { // ms
		ms, ok := value(tag)
		if !ok {
			return at
		}
		if start != nil {
			*start = at
		}
		*end = at + int64(math.Round(ms*1e6))
		return *end
	}
	count := func(tag string, unit float64, to *int) {
		if n, ok := value(tag); ok {
			*to = int(math.Round(n * unit))
		}
	}
	part("blocked", &t.PoolWaitStart, &t.PoolWaitEnd, from)
	part("dns_lookup", &t.DNSStart, &t.DNSEnd, from)
	if reused, _ := value("connection_reused"); reused != 0 {
		t.Reused = from
	} else {
		part("connecting", &t.ConnectStart, &t.ConnectEnd, from)
	}
	t.SendStart = from
	at := part("sending", nil, &t.SendEnd, from)
	at = part("waiting", nil, &t.FirstChunk, at)
	part("receiving", nil, &t.LastChunk, at)
	if ms, ok := value("duration"); ok {
		t.SpanNs = int64(math.Round(ms * 1e6))
	}
	count("chunks_sent", 1, &t.ChunksSent)
	count("chunks_received", 1, &t.ChunksReceived)
	count("data_sent", 1024, &t.BytesSent)
	count("data_received", 1024, &t.BytesReceived)
	return t
}
