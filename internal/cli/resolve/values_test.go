package resolve

import (
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/config"
)

func TestParseExtras(t *testing.T) {
	for _, c := range []struct {
		items []string
		want  string // members as key=JSON, or an error's words after "!"
	}{
		{[]string{"n:007,t:1e5,x:-3,f:1.5,b:TRUE,z:null"}, `n="007" t="1e5" x=-3 f=1.5 b=true z=null`},
		{[]string{"a:.5,b:5.,c:-0,d:-007,e:00,f:+3,g:1_000,h:0x10,i:00.5,j:-007."}, `a=0.5 b=5.0 c=0 d="-007" e="00" f="+3" g="1_000" h="0x10" i=0.5 j=-7.0`},
		{[]string{"a:b:c", "u:http://h:1/x"}, `a="b:c" u="http://h:1/x"`},
		{[]string{"nvext.annotations:1"}, `nvext.annotations=1`}, // a key is what it says, as in the Python tool
		{[]string{"temperature:0.7,top_p:1", `{"stop":["a,b"]}`}, `temperature=0.7 top_p=1 stop=["a,b"]`},
		{[]string{`{"a":"true","b":null,"c":{"z":1,"a":[1, 2.50]}}`}, `a="true" b=null c={"z":1,"a":[1,2.50]}`},
		{[]string{`["a:1","b:2"]`}, `a=1 b=2`},
		{[]string{"a:1", "a:2"}, `a=2`},
		{[]string{" a : 1 , b : two "}, `a=1 b="two"`},
		{[]string{"a:"}, `a=""`},
		{[]string{`a:"x"`}, `a="\"x\""`},
		{[]string{"a:<b>&"}, `a="<b>&"`},
		{[]string{"abc"}, `!has no ":"`},
		{[]string{"a:[1,2]"}, `!JSON object for values with commas`},
		{[]string{":1"}, `!empty key`},
		{[]string{`{"a":1`}, `!is not a JSON object`},
		{[]string{`{"a":1} x`}, `!after top-level value`},
		{[]string{`[1]`}, `!is not a JSON array`},
		{[]string{`["[]"]`}, `!has no ":"`},
	} {
		got, err := parseExtras(c.items)
		if words, bad := strings.CutPrefix(c.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%q: error %v, want %q", c.items, err, words)
			}
			continue
		}
		if s := spellExtras(got); err != nil || s != c.want {
			t.Errorf("%q: %s (%v), want %s", c.items, s, err, c.want)
		}
	}
}

func spellExtras(e config.Extra) string {
	var parts []string
	for _, m := range e {
		parts = append(parts, m.Key+"="+string(m.Value))
	}
	return strings.Join(parts, " ")
}

func FuzzParseExtras(f *testing.F) {
	for _, s := range []string{"a:1,b:x", `{"a":[1,{"b":null}]}`, `["a:1"]`, "a:[1,2]", "n:007", ":", "{", "\xff:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		extra, err := parseExtras([]string{s})
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, m := range extra {
			if m.Key == "" || seen[m.Key] || !json.Valid(m.Value) {
				t.Fatalf("%q: member %q = %s", s, m.Key, m.Value)
			}
			seen[m.Key] = true
		}
		run := config.Default()
		run.Endpoint.Extra = extra
		if _, err := run.YAML(); err != nil {
			t.Fatalf("%q does not print: %v", s, err)
		}
	})
}

func TestParseHeaders(t *testing.T) {
	got, err := ParseHeaders([]string{"Accept: a, b", "X-Flag: true", "x-a:1", "X-A: 2 ", `{"N": 7, "T": "a:b"}`, "U:http://h:1"})
	want := config.Headers{{Name: "Accept", Value: "a, b"}, {Name: "X-Flag", Value: "true"}, {Name: "X-A", Value: "2"}, {Name: "N", Value: "7"}, {Name: "T", Value: "a:b"}, {Name: "U", Value: "http://h:1"}}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("header %d: %q, want %q", i, got[i], want[i])
		}
	}
	for item, words := range map[string]string{"abc": "a colon is missing after \"abc\"", ":v": "has no name", "a b:1": "not a valid header name", "A:x\ny": "control character", `{"A":1`: "not a JSON object"} {
		if _, err := ParseHeaders([]string{item}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: error %v, want %q", item, err, words)
		}
	}
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{
		"localhost:8000": "http://localhost:8000", "h:8000/v1": "http://h:8000/v1", "[::1]:8000": "http://[::1]:8000", "8000": "http://8000",
		" http://h:1 ": "http://h:1", "HTTP://h": "HTTP://h", "http://h:1/": "http://h:1", "http://h:1/v1?x=1": "http://h:1/v1?x=1",
		"https://u:p@h": "https://u:p@h", "mock://": "mock://", "mock://?ttft=50ms&itl=10ms": "mock://?ttft=50ms&itl=10ms", "MOCK://?ttft=1ms": "mock://?ttft=1ms",
	} {
		if got, err := ParseURL(text); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "ftp:h", "ws://h:1", "file:x", "mailto:x@y", "javascript:x", "grpc://h:1", "http://", ":8000", "http://h:0", "http://h:65536", "http://h:abc",
		"http://h:", "a b", "http:h", "mock://?ttft=x", "mock://?no=1", "mock://host",
	} {
		if got, err := ParseURL(text); err == nil {
			t.Errorf("%q: accepted as %q", text, got)
		}
	}
}

// TestErrorsShowNoSecret: a value that is refused is quoted without its credentials.
func TestErrorsShowNoSecret(t *testing.T) {
	for _, u := range []string{
		"http://u:hush@h:x", "mailto:u:hush@h", "http://u:hush@h:70000", "http://u:hush@ h", "ws://u:hush@h?token=hush", "http://h:x?api_key=hush",
		"http:u:hush@h", "u:hush@",
	} {
		if got, err := ParseURL(u); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %q, %v", u, got, err)
		}
	}
	for _, h := range []string{"Authorization Bearer hush", ": hush", `{"Authorization": "Bearer hush"`, `{"Authorization": "hush"} x`, "Authorization: hush\x01", `{"": "hush"}`} {
		if got, err := ParseHeaders([]string{h}); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, %v", h, got, err)
		}
	}
}

func TestParseSeqDist(t *testing.T) {
	const twice = "256±10,128±5:40 512±0,256±0:60"
	for text, want := range map[string]string{
		"256|10,128|5:40;512,256:60": twice, " 256|10 , 128|5 : 40 ;; 512 ,256:60 ": twice, "[(256|10,128|5):40,(512,256):60]": twice,
		"[(256|10,128|5):40;(512,256):60]": twice,
		`{"pairs":[{"isl":256,"osl":128,"prob":40,"isl_stddev":10,"osl_stddev":5},{"isl":512,"osl":256,"prob":60}]}`: twice,
		"1,1:33.3333;1,1:33.3333;1,1:33.3333": "1±0,1±0:33.3333 1±0,1±0:33.3333 1±0,1±0:33.3333",
		"1,1:100;2,2:0":                       "1±0,1±0:100 2±0,2±0:0",
	} {
		pairs, err := parseSeqDist(text)
		var parts []string
		for _, p := range pairs {
			parts = append(parts, trim(*p.ISL.Mean)+"±"+trim(*p.ISL.Stddev)+","+trim(*p.OSL.Mean)+"±"+trim(*p.OSL.Stddev)+":"+trim(p.Probability))
		}
		if got := strings.Join(parts, " "); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", text, got, err, want)
		}
	}
	for text, words := range map[string]string{"": "empty", "256,128:0.4;512,256:0.6": "percentages, not fractions", "1,1:1e2": "Invalid pair format"} {
		if _, err := parseSeqDist(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", text, err, words)
		}
	}
}

func trim(f float64) string { return strings.TrimSuffix(config.FormatFloat(f), ".0") }
