package endpoint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/record"
)

func TestScannerTakesWhatJSONIs(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, ` {"a" : [1, -0, 1.5e+3, "x\u00e9\n"], "b":{"c":null}} `, `"\ud83d\ude00"`, `0`, `true`,
		`{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{a:1}`, `01`, `1.`, `.5`, `-`, `1e`, `+1`, `NaN`, `Infinity`, `nul`, `"\x"`, `"\u12g4"`, "\"a\nb\"",
		`{"a":1}x`, `{"a":1`, `[1`, `"a`, ``, ` `, `{"a":1 "b":2}`, `[1 2]`, `"\"`,
	} {
		s := scanner{b: []byte(doc)}
		s.skip()
		if got, want := s.done(), json.Valid([]byte(doc)); got != want {
			t.Errorf("%q: valid %v, want %v", doc, got, want)
		}
	}
	deep := scanner{b: []byte(strings.Repeat("[", 100000))}
	if deep.skip(); !deep.bad {
		t.Error("endless nesting was taken")
	}
}

func TestTextResolvesEscapes(t *testing.T) {
	for raw, want := range map[string]string{
		`a\"\\\/\b\f\n\r\tz`: "a\"\\/\b\f\n\r\tz",
		`\u00e9\u65e5`:       "é日",
		`\ud83d\ude00`:       "😀",
		`a\ud83d`:            "a\ufffd",
		`\ud83d\u0041`:       "\ufffdA",
		`\ude00\ud83d\ude00`: "\ufffd😀",
		"al\xffpha":          "al\ufffdpha",
		"\xe6\x97x":          "\ufffdx",
	} {
		s := scanner{b: []byte(`"` + raw + `"`)}
		if got := s.text().String(); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func TestNumbersAreSpelledAsUpstreamDoes(t *testing.T) {
	for raw, want := range map[string]string{
		"1": "1", "-0": "0", "1.0": "1.0", "0.70": "0.7", "1e2": "100.0", "1e16": "1e16", "1e15": "1000000000000000.0", "1e-5": "0.00001",
		"1.5e-7": "1.5e-7", "1e22": "1e22", "123456789012345678901": "123456789012345678901", "-2.50": "-2.5", "1e400": "1e400", "1.25e+30": "1.25e30",
	} {
		if got := string(appendNumber(nil, []byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestCompactKeepsTheLastOfEqualNames(t *testing.T) {
	many, want := `{"a":1`, `{"a":2`
	for i := range 40 {
		many += fmt.Sprintf(`, "k%d": {"x" : %d}`, i, i)
		want += fmt.Sprintf(`,"k%d":{"x":%d}`, i, i)
	}
	for doc, want := range map[string]string{
		`{"a":1, "b":[{"a":1,"a":2}], "a":{"c":1.50}}`: `{"a":{"c":1.5},"b":[{"a":2}]}`,
		many + `,"a":2}`:     want + `}`,
		`{"\u0061":1,"a":2}`: `{"a":2}`,
		` [ ] `:              `[]`,
	} {
		s := scanner{b: []byte(doc)}
		if got := string(appendCompact(nil, &s)); got != want || !s.done() {
			t.Errorf("%s\n got %s\nwant %s", doc, got, want)
		}
	}
	huge := []byte(`{"":0`)
	for i := range 200_000 {
		huge = fmt.Appendf(huge, `,"%x":{}`, i)
	}
	s := scanner{b: append(huge, '}')}
	if got := appendCompact(nil, &s); len(got) != len(huge)+1 || !s.done() {
		t.Errorf("%d bytes became %d", len(huge), len(got))
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"\ud83d\ude00",{"b":null}],"a":true}`, `[[[]]]`, `"\u12"`, `-0.0`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		s := scanner{b: doc}
		s.skip()
		ok := s.done()
		if strings.Count(string(doc), "[")+strings.Count(string(doc), "{") < maxDepth && ok != json.Valid(doc) {
			t.Fatalf("%q: valid %v", doc, ok)
		}
		if !ok {
			return
		}
		s = scanner{b: doc}
		compact := appendCompact(nil, &s)
		if !s.done() || !json.Valid(compact) || !utf8.Valid(compact) {
			t.Fatalf("%q became %q", doc, compact)
		}
		s = scanner{b: compact}
		if again := appendCompact(nil, &s); string(again) != string(compact) {
			t.Fatalf("%q became %q", compact, again)
		}
	})
}

// FuzzDecode holds whatever a server may send against encoding/json, which agrees on content where there is any.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"a\u00e9","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]}}]}`), false)
	f.Add([]byte(`{"object":"chat.completion","choices":[{"message":{"content":[{"type":"text","text":"a"}],"reasoning":"b"}}],"usage":{"prompt_tokens":"9","x":{"y":1}}}`), true)
	f.Add([]byte("event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":429}}"), false)
	f.Add([]byte(`{"data":[{"embedding":[1,2]}],"results":[{"index":0}],"rankings":[{}]}`), true)
	f.Fuzz(func(t *testing.T, raw []byte, body bool) {
		rec := &record.Record{Payload: record.Plain(raw), Messages: []record.Message{{At: 1, Raw: raw, Body: body}, {At: 2, Raw: raw, Body: body}}}
		for _, e := range All() {
			if !e.Built() {
				continue
			}
			c := codec(t, e.Name, Settings{Extras: []Member{extra("payload_template", "{}")}})
			reply, failure := Decode(c, rec, DecodeOptions{})
			if failure == nil && len(reply.Contents) == 0 {
				t.Fatal("success without content")
			}
			text := ""
			for i := range reply.Contents {
				text += reply.Contents[i].Text
			}
			if text != reply.Output || !utf8.ValidString(reply.Output+reply.Reasoning) {
				t.Fatalf("%q is not %q", text, reply.Output)
			}
			if m := capture(c, rec); m != "" && !json.Valid([]byte(m)) {
				t.Fatalf("captured %q", m)
			}
			first, failed := NewReading(c, false).Content(rec.Messages[:1])
			if first != (len(reply.Contents) > 0 && reply.Contents[0].Message == 0) || failed != nil && failure == nil {
				t.Fatal("the first look and the whole reading disagree")
			}
			if e.Name == "chat" && reply.Contents != nil {
				compareContent(t, raw, body, &record.Reply{Output: reply.Contents[0].Text})
			}
		}
	})
}

// compareContent reads a plain chat body with the standard decoder: both must find the same text.
func compareContent(t *testing.T, raw []byte, body bool, reply *record.Reply) {
	t.Helper()
	var v struct{ top, choice, message map[string]json.RawMessage }
	var choices []json.RawMessage
	if !body || !utf8.Valid(raw) || json.Unmarshal(raw, &v.top) != nil || json.Unmarshal(v.top["choices"], &choices) != nil || len(choices) == 0 ||
		json.Unmarshal(choices[0], &v.choice) != nil || json.Unmarshal(v.choice["message"], &v.message) != nil {
		return
	}
	var content string
	if json.Unmarshal(v.message["content"], &content) != nil || len(v.message) > 1 || len(v.choice) > 1 || v.message == nil {
		return
	}
	if reply.Output != content {
		t.Fatalf("%q: text %q, want %q", raw, reply.Output, content)
	}
}
