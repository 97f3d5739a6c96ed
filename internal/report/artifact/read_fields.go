package artifact

import (
	"github.com/valyala/fastjson"

	"aiperf/internal/measure/record"
)

// text returns a string value; "" for anything else.
func text(v *fastjson.Value) string {
	if v == nil {
		return ""
	}
	return string(v.GetStringBytes())
}

// place converts a wall instant of an object to the monotonic clock; 0 if the key is missing or null.
func place(v *fastjson.Value, key string, offset int64) int64 {
	if wall := v.GetInt64(key); wall > 0 {
		return wall - offset
	}
	return 0
}

func readMeta(md *fastjson.Value) record.Meta {
	m := record.Meta{
		SessionNum:     md.GetInt64("session_num"),
		RequestID:      text(md.Get("x_request_id")),
		CorrelationID:  text(md.Get("x_correlation_id")),
		ParentID:       text(md.Get("parent_correlation_id")),
		ConversationID: text(md.Get("conversation_id")),
		TurnIndex:      md.GetInt("turn_index"),
		URLIndex:       max(0, md.GetInt("url_index")),
		WorkerID:       text(md.Get("worker_id")),
		ProcessorID:    text(md.Get("record_processor_id")),
		Warmup:         text(md.Get("benchmark_phase")) == warmupPhase,
		PhaseIndex:     md.GetInt("phase_index"),
		PhaseName:      text(md.Get("phase_name")),
		ProfilingIndex: -1,
	}
	m.Depth = md.GetInt("agent_depth")
	if root := text(md.Get("root_correlation_id")); root != m.CorrelationID {
		m.RootID = root
	}
	if !m.Warmup {
		m.ProfilingIndex = md.GetInt("profiling_index")
	}
	m.AudioSeconds = max(0, md.GetFloat64("audio_seconds"))
	if t := md.Get("turn_timestamp_ms"); t != nil {
		ms := t.GetFloat64()
		m.TurnTimestamp = &ms
	}
	return m
}

func readHeaders(v *fastjson.Value, to *[]record.Header) {
	if v == nil || v.Type() != fastjson.TypeObject {
		return
	}
	v.GetObject().Visit(func(key []byte, val *fastjson.Value) {
		*to = append(*to, record.Header{Name: string(key), Value: text(val)})
	})
}

// readMessage reads an event with its packets, or a body. A message that names no clock gets ownClock. In exports of older versions uncertain_ns,
// clock and size are inside the message.
func readMessage(v *fastjson.Value) record.Message {
	m := record.Message{At: v.GetInt64("perf_ns"), UncertainNs: v.GetInt64("uncertain_ns"), Clock: ownClock}
	if c := v.Get("clock"); c != nil {
		m.Clock = record.ParseClock(text(c))
	}
	packets := v.Get("packets")
	if packets == nil {
		m.Body, m.Details = true, &record.Details{ContentType: text(v.Get("content_type")), Size: v.GetInt("size")}
		if t := v.Get("text"); t != nil {
			m.Raw = append([]byte{}, t.GetStringBytes()...)
		}
		return m
	}
	m.Details = &record.Details{Fields: []record.Field{}}
	for _, p := range packets.GetArray() {
		m.Details.Fields = append(m.Details.Fields, record.Field{Name: text(p.Get("name")), Value: text(p.Get("value"))})
	}
	return m
}

func readError(v *fastjson.Value) *record.Error {
	if v == nil || v.Type() != fastjson.TypeObject {
		return nil
	}
	e := &record.Error{Code: v.GetInt("code"), Type: text(v.Get("type")), Message: text(v.Get("message")), Cause: text(v.Get("cause"))}
	e.Local = v.GetBool("local_limit")
	for _, c := range v.GetArray("cause_chain") {
		e.Chain = append(e.Chain, text(c))
	}
	return e
}

// readTrace reads trace_data; nil if there is none.
func readTrace(v *fastjson.Value, offset int64) *record.Trace {
	if v == nil || v.Type() != fastjson.TypeObject {
		return nil
	}
	at := func(key string) int64 { return place(v, key, offset) }
	return &record.Trace{
		PoolWaitStart: at("connection_pool_wait_start_ns"), PoolWaitEnd: at("connection_pool_wait_end_ns"),
		DNSStart: at("dns_lookup_start_ns"), DNSEnd: at("dns_lookup_end_ns"), DNSCacheHit: at("dns_cache_hit_ns"),
		ConnectStart: at("tcp_connect_start_ns"), ConnectEnd: at("tcp_connect_end_ns"), Reused: at("connection_reused_ns"),
		SendStart: at("request_send_start_ns"), HeadersSent: at("request_headers_sent_ns"), SendEnd: at("request_send_end_ns"),
		HeadersReceived: at("response_headers_received_ns"), ErrorAt: at("error_timestamp_ns"),
		FirstChunk: at("response_receive_start_ns"), LastChunk: at("response_receive_end_ns"),
		ChunksSent: v.GetInt("request_chunks_count"), BytesSent: v.GetInt("request_bytes_total"),
		ChunksReceived: v.GetInt("response_chunks_count"), BytesReceived: v.GetInt("response_bytes_total"),
		Host:         text(v.Get("request_headers", "Host")),
		StatusReason: text(v.Get("response_reason")),
		LocalIP:      text(v.Get("local_ip")), RemoteIP: text(v.Get("remote_ip")),
		LocalPort: v.GetInt("local_port"), RemotePort: v.GetInt("remote_port"),
		Reads: v.GetInt("read_count"), ReadDelaySum: v.GetInt64("read_delay_sum_ns"), ReadDelayMax: v.GetInt64("read_delay_max_ns"),
		SharedReads: v.GetInt("coalesced_messages"),
		Path: record.Path{
			Known: v.Exists("tcp_smoothed_rtt_ns"), SmoothedRTT: v.GetInt64("tcp_smoothed_rtt_ns"), Window: v.GetInt("tcp_congestion_window"),
			Resent: v.GetInt("tcp_retransmits"), Unordered: v.GetInt("tcp_out_of_order"),
		},
		FirstUncertainNs: v.GetInt64("first_event_uncertain_ns"), GapUncertainNs: v.GetInt64("gap_uncertain_max_ns"),
		SendUncertainNs: v.GetInt64("send_uncertain_ns"), EndUncertainNs: v.GetInt64("end_uncertain_ns"),
	}
}
