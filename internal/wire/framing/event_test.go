package framing

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestEvent(t *testing.T) {
	for _, c := range []struct {
		name, raw, data, text string
		fields                []Field
	}{
		{"plain", "data: {}", "{}", "{}", []Field{{Name: "data", Value: "{}"}}},
		{"no blank", "data:{}", "{}", "{}", []Field{{Name: "data", Value: "{}"}}},
		{"blanks", "data:  {}  ", "{}", " {}  ", []Field{{Name: "data", Value: "{}"}}},
		{"leading blanks", "   data: {}", "{}", "{}", []Field{{Name: "data", Value: "{}"}}},
		{"any case", "Data: {}", "{}", "{}", []Field{{Name: "Data", Value: "{}"}}},
		{"no colon", "data", "", "", []Field{{Name: "data", Null: true}}},
		{"no value", "data:", "", "", []Field{{Name: "data"}}},
		{"comment", ": ping\ndata: a", "a", "a", []Field{{Name: "comment", Value: "ping"}, {Name: "data", Value: "a"}}},
		{"joined", "data: {\"a\":\ndata: 1}", "{\"a\":\n1}", "{\"a\":\n1}", []Field{{Name: "data", Value: "{\"a\":"}, {Name: "data", Value: "1}"}}},
		{"empty data dropped", "data: \ndata: a", "a", "a", []Field{{Name: "data"}, {Name: "data", Value: "a"}}},
		{"others", "event: e\nid: 7\nretry: 10\nx-y: z\ndata: a", "a", "a", []Field{{Name: "event", Value: "e"},
			{Name: "id", Value: "7"}, {Name: "retry", Value: "10"}, {Name: "x-y", Value: "z"}, {Name: "data", Value: "a"}}},
		{"pretty printed", "data: {\n  \"a\": [\n    1\n  ]\n}", "{\n  \"a\": [\n    1\n  ]\n}", "{\n  \"a\": [\n    1\n  ]\n}", nil},
		{"line break in a string", "data: {\"a\":\"b\nc\"}", `{"a":"b\nc"}`, `{"a":"b\nc"}`, nil},
		{"braces in a string", "data: {\"a\":\"}\nid: {\"}", `{"a":"}\nid: {"}`, `{"a":"}\nid: {"}`, nil},
		{"closed value is not continued", "data: {}\nid: 1", "{}", "{}", []Field{{Name: "data", Value: "{}"}, {Name: "id", Value: "1"}}},
		{"broken UTF-8", "data: a\xFFb", "a\uFFFDb", "a\uFFFDb", []Field{{Name: "data", Value: "a\uFFFDb"}}},
		{"empty lines", "\n\ndata: a\n\nid: 7\n", "a", "a", []Field{{Name: "data", Value: "a"}, {Name: "id", Value: "7"}}},
		{"leading blank of a token", "data:  tok", "tok", " tok", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n", "\r"} {
				raw := strings.ReplaceAll(c.raw, "\n", eol)
				var e Event
				SSE.Parse(&e, []byte(raw))
				if got := string(e.Data()); got != c.data {
					t.Errorf("%q: data %q, want %q", raw, got, c.data)
				}
				if got := string(e.Text()); got != c.text {
					t.Errorf("%q: text %q, want %q", raw, got, c.text)
				}
				if got := e.Fields(); c.fields != nil && !slices.Equal(got, c.fields) {
					t.Errorf("%q: fields %v, want %v", raw, got, c.fields)
				}
			}
		})
	}
}

func TestGluedValuesAreJSON(t *testing.T) {
	for _, raw := range []string{
		"data: {\n  \"a\": [\n    1\n  ]\n}", "data: {\"a\":\"b\nc\"}", "data: {\"a\":\"\\\"\nc\"}", "data: {\"a\":\ndata: 1}",
	} {
		var e Event
		SSE.Parse(&e, []byte(raw))
		if !json.Valid(e.Data()) {
			t.Errorf("%q became %q", raw, e.Data())
		}
	}
}

func TestEventFromAnExport(t *testing.T) {
	var e Event
	SSE.Parse(&e, []byte("data: old"))
	e.Reset()
	e.Add("event", "x")
	e.Add("data", "[DONE]")
	if string(e.Name()) != "x" || !e.Done() {
		t.Errorf("name %q, data %q", e.Name(), e.Data())
	}
}

// isDone tells whether a message ends a stream of server-sent events.
func isDone(raw string) bool {
	last, mark := SSE.Ends([]byte(raw))
	return last && mark
}

func TestIsDone(t *testing.T) {
	for raw, want := range map[string]bool{
		"data: [DONE]": true, "data:[DONE]": true, "data: [DONE] ": true, "event: x\ndata: [DONE]": true,
		"data: [done]": false, "data: {\"a\":\"[DONE]\"}": false, ": [DONE]": false, "data: [DONE]\ndata: x": false,
	} {
		if isDone(raw) != want {
			t.Errorf("Ends(%q) = %v", raw, !want)
		}
	}
}

func BenchmarkEventOfAChunk(b *testing.B) {
	raw := []byte(`data: {"id":"chatcmpl-123456789012","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}`)
	var e Event
	for b.Loop() {
		SSE.MayFail(raw, true)
		SSE.Parse(&e, raw)
		e.Data()
	}
}
