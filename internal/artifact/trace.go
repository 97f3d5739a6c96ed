package artifact

import (
	"strconv"
	"strings"

	"aiperf/internal/record"
	"aiperf/internal/redact"
)

// appendTrace writes trace_data: socket instants in wall ns and durations in ns, what did not happen left out.
func appendTrace(b []byte, r *record.Record) []byte {
	t := r.Trace
	wall := func(at int64) int64 {
		if at == 0 {
			return 0
		}
		return r.Wall(at)
	}
	o := open(b)
	o.str("trace_type", "aiohttp") // the one value that readers know
	o.instant("request_send_start_ns", wall(t.SendStart))
	appendHeaders(&o, "request_headers", sentHeaders(r))
	o.instant("request_headers_sent_ns", wall(t.HeadersSent))
	o.raw("request_chunks", []byte("[]"))
	o.instant("request_send_end_ns", wall(t.SendEnd))
	o.int("request_chunks_count", int64(t.ChunksSent))
	o.int("request_bytes_total", int64(t.BytesSent))
	o.instant("response_status_code", int64(r.Status))
	o.text("response_reason", t.StatusReason)
	o.instant("response_receive_start_ns", wall(t.FirstChunk))
	appendHeaders(&o, "response_headers", r.ResponseHeaders)
	o.instant("response_headers_received_ns", wall(t.HeadersReceived))
	o.raw("response_chunks", []byte("[]"))
	o.int("response_chunks_count", int64(t.ChunksReceived))
	o.int("response_bytes_total", int64(t.BytesReceived))
	o.instant("response_receive_end_ns", wall(t.LastChunk))
	o.instant("error_timestamp_ns", wall(t.ErrorAt))
	o.instant("connection_pool_wait_start_ns", wall(t.PoolWaitStart))
	o.instant("connection_pool_wait_end_ns", wall(t.PoolWaitEnd))
	o.instant("tcp_connect_start_ns", wall(t.ConnectStart))
	o.instant("tcp_connect_end_ns", wall(t.ConnectEnd))
	o.instant("connection_reused_ns", wall(t.Reused))
	o.instant("dns_cache_hit_ns", wall(t.DNSCacheHit))
	o.instant("dns_lookup_start_ns", wall(t.DNSStart))
	o.instant("dns_lookup_end_ns", wall(t.DNSEnd))
	o.text("local_ip", t.LocalIP)
	o.instant("local_port", int64(t.LocalPort))
	o.text("remote_ip", t.RemoteIP)
	o.instant("remote_port", int64(t.RemotePort))
	span(&o, "sending_ns", t.SendStart, t.SendEnd)
	span(&o, "waiting_ns", t.SendEnd, t.FirstChunk)
	span(&o, "receiving_ns", t.FirstChunk, t.LastChunk)
	span(&o, "duration_ns", t.SendStart, t.LastChunk)
	span(&o, "blocked_ns", t.PoolWaitStart, t.PoolWaitEnd)
	span(&o, "dns_lookup_ns", t.DNSStart, t.DNSEnd)
	span(&o, "connecting_ns", t.ConnectStart, t.ConnectEnd)
	if t.Reads > 0 { // ours: the client's own delay
		o.int("read_count", int64(t.Reads))
		o.int("read_delay_sum_ns", t.ReadDelaySum)
		o.int("read_delay_max_ns", t.ReadDelayMax)
	}
	if len(r.Messages) > 0 {
		o.str("clock", r.Messages[0].Clock.String())
		o.int("first_event_uncertain_ns", t.FirstUncertainNs)
		o.int("gap_uncertain_max_ns", t.GapUncertainNs)
		o.instant("send_uncertain_ns", t.SendUncertainNs)
	}
	if t.SharedReads > 0 {
		o.int("coalesced_messages", int64(t.SharedReads))
	}
	return o.close()
}

// sentHeaders are the headers of a request as they went over the wire: the client's own around those that the run chose.
func sentHeaders(r *record.Record) []record.Header {
	if r.Trace.Host == "" || len(r.RequestHeaders) == 0 {
		return r.RequestHeaders
	}
	sent := r.Trace.BytesSent
	if sent == 0 { // cut before the body was out
		sent = r.Payload.Len()
	}
	all := make([]record.Header, 0, len(r.RequestHeaders)+2)
	all = append(all, record.Header{Name: "Host", Value: r.Trace.Host})
	for _, h := range r.RequestHeaders {
		if !strings.EqualFold(h.Name, "Host") && !strings.EqualFold(h.Name, "Content-Length") {
			all = append(all, h)
		}
	}
	return append(all, record.Header{Name: "Content-Length", Value: strconv.Itoa(sent)})
}

// span writes a duration if both its ends happened.
func span(o *object, key string, from, to int64) {
	if from != 0 && to >= from {
		o.int(key, to-from)
	}
}

// appendHeaders writes headers as an object, credentials taken out; a name that comes twice is joined by commas.
func appendHeaders(o *object, key string, headers []record.Header) {
	if len(headers) == 0 {
		return
	}
	o.key(key)
	h := open(o.b)
	for i, x := range headers {
		if seen(headers[:i], x.Name) {
			continue
		}
		value := redact.Header(x.Name, x.Value)
		for _, y := range headers[i+1:] {
			if y.Name == x.Name {
				value += ", " + redact.Header(y.Name, y.Value)
			}
		}
		h.str(x.Name, value)
	}
	o.b = h.close()
}

func seen(headers []record.Header, name string) bool {
	for _, h := range headers {
		if h.Name == name {
			return true
		}
	}
	return false
}
