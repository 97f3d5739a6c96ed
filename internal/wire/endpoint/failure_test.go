package endpoint

import (
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

func TestStreamFailure(t *testing.T) {
	for _, c := range []struct {
		raw  string
		code int // 0 = no failure
		text string
	}{
		{`data: {"error":{"code":429,"message":"slow"}}`, 429, "slow"},
		{`data: {"error":{"code":"429","message":"slow"}}`, 502, "slow"},
		{`data: {"error":{"code":200,"message":"m"}}`, 502, "m"},
		{`data: {"error":{"code":99999,"message":"m"}}`, 502, "m"},
		{`data: {"error":"text"}`, 502, "text"},
		{`data: {"error":{"x":1}}`, 502, `{"x":1}`},
		{`data: {"error":true}`, 502, "true"},
		{`data: {"object":"error","message":"boom","code":400}`, 400, "boom"},
		{`data: {"type":"error","message":"x"}`, 502, "x"},
		{`data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"no"}}}`, 502, "no"},
		{"event: error\ndata: {\"error\":{\"message\":\"boom\",\"code\":503}}", 503, "boom"},
		{"event: ERROR\n: overload", 502, "overload"},
		{"event: error\ndata: x\n: late", 502, "late"},
		{"event: error\ndata: {\"type\":\"error\",\"message\":\"x\"}", 502, "x"},
		{"event: error\ndata: {\"message\":\"x\",\"code\":500}", 500, "x"},
		{"event: error", 502, "Unknown error in SSE response: event: error"},
		{"event: error\ndata: plain", 502, "Unknown error in SSE response: plain"},
		{`data: {"error":null,"a":1}`, 0, ""},
		{`data: {"error":""}`, 0, ""},
		{`data: {"error":{}}`, 0, ""},
		{`data: {"error":[]}`, 0, ""},
		{`data: {"error":0}`, 0, ""},
		{`data: {"error":false}`, 0, ""},
		{`data: {"choices":[{"error":"x"}]}`, 0, ""},
		{`data: {"content":"the \"error\" of"}`, 0, ""},
		{`data: {"message":"error"}`, 0, ""},
		{`data: {"error":`, 0, ""},
		{": error", 0, ""},
		{`data: "error"`, 0, ""},
	} {
		for _, single := range []bool{false, !strings.Contains(c.raw, "\n")} {
			var f *record.Error
			if framing.SSE.MayFail([]byte(c.raw), single) {
				var e framing.Event
				framing.SSE.Parse(&e, []byte(c.raw))
				f = streamFailure(framing.SSE, &e)
			}
			if (f != nil) != (c.code != 0) || f != nil && (f.Code != c.code || f.Message != c.text) {
				t.Errorf("%s (single %v): %+v, want %d %q", c.raw, single, f, c.code, c.text)
			}
		}
	}
}

// TestFailureNeedsTheCheapTest: only a message that passes the cheap test of its format can fail a request. So the reader of the stream, the decoder
// and a report from the export agree. The name of this member is escaped, which the cheap test does not see.
func TestFailureNeedsTheCheapTest(t *testing.T) {
	const doc = `{"\u0065rror":"x"}`
	for name, raw := range map[string]string{"chat": "data: " + doc, "ollama_chat": doc} {
		m := record.Message{At: 2, Raw: []byte(raw), Line: true}
		export := record.Message{At: 2, Details: &record.Details{Fields: []record.Field{{Name: "data", Value: doc}}}}
		for way, m := range map[string]record.Message{"stream": m, "export": export} {
			rec := &record.Record{Start: 1, End: 9, Messages: []record.Message{m}}
			if _, failure := Decode(codec(t, name, Settings{Streaming: true}), rec, DecodeOptions{}); failure == nil || failure.Type != invalidResult {
				t.Errorf("%s, %s: %+v", name, way, failure)
			}
		}
	}
}

// TestExportFailsLikeItsStream: the cheap test of an export sees all that the one of the stream sees, names of fields included.
func TestExportFailsLikeItsStream(t *testing.T) {
	const doc = `{"\u0065rror":"x"}`
	stream := record.Message{At: 2, Raw: []byte("data: " + doc + "\nerror")}
	export := record.Message{At: 2, Details: &record.Details{Fields: []record.Field{{Name: "data", Value: doc}, {Name: "error"}}}}
	for way, m := range map[string]record.Message{"stream": stream, "export": export} {
		rec := &record.Record{Start: 1, End: 9, Messages: []record.Message{m}}
		if _, failure := Decode(chatCodec(t), rec, DecodeOptions{}); failure == nil || failure.Type != framing.SSE.Failure() || failure.Message != "x" {
			t.Errorf("%s: %+v", way, failure)
		}
	}
}
