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
