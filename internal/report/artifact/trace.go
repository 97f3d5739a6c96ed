package artifact

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/record"
)

// appendTrace writes trace_data: socket instants in wall ns and durations in ns. Instants that never happened are omitted.
func appendTrace(b []byte, r *record.Record) []byte {
	t := r.Trace
	wall := wallClock(r)
	o := jsontext.Open(b)
	o.Text("trace_type", "aiohttp") // the only value that readers accept
	o.IntIfPositive("request_send_start_ns", wall(t.SendStart))
	appendHeaders(&o, "request_headers", sentHeaders(r))
	o.IntIfPositive("request_headers_sent_ns", wall(t.HeadersSent))
	o.Raw("request_chunks", []byte("[]"))
	o.IntIfPositive("request_send_end_ns", wall(t.SendEnd))
	o.Int("request_chunks_count", int64(t.ChunksSent))
	o.Int("request_bytes_total", int64(t.BytesSent))
	o.IntIfPositive("response_status_code", int64(r.Status))
	o.TextIfAny("response_reason", t.StatusReason)
	o.IntIfPositive("response_receive_start_ns", wall(t.FirstChunk))
	appendHeaders(&o, "response_headers", r.ResponseHeaders)
	o.IntIfPositive("response_headers_received_ns", wall(t.HeadersReceived))
	o.Raw("response_chunks", []byte("[]"))
	o.Int("response_chunks_count", int64(t.ChunksReceived))
	o.Int("response_bytes_total", int64(t.BytesReceived))
	o.IntIfPositive("response_receive_end_ns", wall(t.LastChunk))
	o.IntIfPositive("error_timestamp_ns", wall(t.ErrorAt))
	o.IntIfPositive("connection_pool_wait_start_ns", wall(t.PoolWaitStart))
	o.IntIfPositive("connection_pool_wait_end_ns", wall(t.PoolWaitEnd))
	o.IntIfPositive("tcp_connect_start_ns", wall(t.ConnectStart))
	o.IntIfPositive("tcp_connect_end_ns", wall(t.ConnectEnd))
	o.IntIfPositive("connection_reused_ns", wall(t.Reused))
	o.IntIfPositive("dns_cache_hit_ns", wall(t.DNSCacheHit))
	o.IntIfPositive("dns_lookup_start_ns", wall(t.DNSStart))
	o.IntIfPositive("dns_lookup_end_ns", wall(t.DNSEnd))
	o.TextIfAny("local_ip", t.LocalIP)
	o.IntIfPositive("local_port", int64(t.LocalPort))
	o.TextIfAny("remote_ip", t.RemoteIP)
	o.IntIfPositive("remote_port", int64(t.RemotePort))
	span(&o, "sending_ns", t.SendStart, t.SendEnd)
	span(&o, "waiting_ns", t.SendEnd, t.FirstChunk)
	span(&o, "receiving_ns", t.FirstChunk, t.LastChunk)
	span(&o, "duration_ns", t.SendStart, t.LastChunk)
	span(&o, "blocked_ns", t.PoolWaitStart, t.PoolWaitEnd)
	span(&o, "dns_lookup_ns", t.DNSStart, t.DNSEnd)
	span(&o, "connecting_ns", t.ConnectStart, t.ConnectEnd)
	if t.Reads > 0 { // our own keys: the delay of the client itself
		o.Int("read_count", int64(t.Reads))
		o.Int("read_delay_sum_ns", t.ReadDelaySum)
		o.Int("read_delay_max_ns", t.ReadDelayMax)
	}
	if t.Path.Known {
		o.Int("tcp_smoothed_rtt_ns", t.Path.SmoothedRTT)
		o.Int("tcp_retransmits", int64(t.Path.Resent))
		o.Int("tcp_out_of_order", int64(t.Path.Unordered))
		o.Int("tcp_congestion_window", int64(t.Path.Window))
	}
	if len(r.Messages) > 0 {
		o.Text("clock", r.Messages[0].Clock.String())
		o.Int("first_event_uncertain_ns", t.FirstUncertainNs)
		o.Int("gap_uncertain_max_ns", t.GapUncertainNs)
	}
	o.IntIfPositive("send_uncertain_ns", t.SendUncertainNs) // also of a request without an answer: its wait is a limit of latencies
	if r.Error != nil && t.AnswerEnd == 0 {
		o.IntIfPositive("end_uncertain_ns", t.EndUncertainNs)
	}
	if t.SharedReads > 0 {
		o.Int("coalesced_messages", int64(t.SharedReads))
	}
	return o.Close()
}

// sentHeaders returns the headers of a request as sent: those of the run, and those that the client added.
func sentHeaders(r *record.Record) []record.Header {
	if r.Trace.Host == "" || len(r.RequestHeaders) == 0 {
		return r.RequestHeaders
	}
	sent := r.Trace.BytesSent
	if sent == 0 { // cancelled before the body was sent
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
func span(o *jsontext.Object, key string, from, to int64) {
	if from != 0 && to >= from {
		o.Int(key, to-from)
	}
}

// appendHeaders writes headers as an object without credentials; the values of a repeated name are joined by commas.
func appendHeaders(o *jsontext.Object, key string, headers []record.Header) {
	if len(headers) == 0 {
		return
	}
	o.Key(key)
	h := jsontext.Open(o.B)
	for i, x := range headers {
		if hasHeader(headers[:i], x.Name) {
			continue
		}
		value := redact.Header(x.Name, x.Value)
		for _, y := range headers[i+1:] {
			if y.Name == x.Name {
				value += ", " + redact.Header(y.Name, y.Value)
			}
		}
		h.Text(x.Name, value)
	}
	o.B = h.Close()
}

func hasHeader(headers []record.Header, name string) bool {
	for _, h := range headers {
		if h.Name == name {
			return true
		}
	}
	return false
}
