package jsontext

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScannerTakesWhatJSONIs(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, ` {"a" : [1, -0, 1.5e+3, "x\u00e9\n"], "b":{"c":null}} `, `"\ud83d\ude00"`, `0`, `true`,
		`{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{a:1}`, `01`, `1.`, `.5`, `-`, `1e`, `+1`, `NaN`, `Infinity`, `nul`, `"\x"`, `"\u12g4"`, "\"a\nb\"",
		`{"a":1}x`, `{"a":1`, `[1`, `"a`, ``, ` `, `{"a":1 "b":2}`, `[1 2]`, `"\"`,
	} {
		s := Scanner{Doc: []byte(doc)}
		s.Skip()
		if got, want := s.Done(), json.Valid([]byte(doc)); got != want {
			t.Errorf("%q: valid %v, want %v", doc, got, want)
		}
	}
	deep := Scanner{Doc: []byte(strings.Repeat("[", 100000))}
	if deep.Skip(); !deep.bad {
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
		s := Scanner{Doc: []byte(`"` + raw + `"`)}
		if got := s.Text().String(); got != want {
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
		s := Scanner{Doc: []byte(doc)}
		if got := string(AppendCompact(nil, &s)); got != want || !s.Done() {
			t.Errorf("%s\n got %s\nwant %s", doc, got, want)
		}
	}
	huge := []byte(`{"":0`)
	for i := range 200_000 {
		huge = fmt.Appendf(huge, `,"%x":{}`, i)
	}
	s := Scanner{Doc: append(huge, '}')}
	if got := AppendCompact(nil, &s); len(got) != len(huge)+1 || !s.Done() {
		t.Errorf("%d bytes became %d", len(huge), len(got))
	}
}

// FuzzScanner takes anything for a document, and for a text that is written and read again.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{"", "a\"b\\", "\x00\x1f\n\r\t\b\f", "ä€😀", "\xff\xfe", "a\xc3", "\u2028<&>", `{"a":[1,2.5e-3,"\ud83d\ude00",{"b":null}],"a":true}`, `[[[]]]`, `"\u12"`, `-0.0`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		roundTrip(t, string(doc))
		s := Scanner{Doc: doc}
		s.Skip()
		ok := s.Done()
		if strings.Count(string(doc), "[")+strings.Count(string(doc), "{") < maxDepth && ok != json.Valid(doc) {
			t.Fatalf("%q: valid %v", doc, ok)
		}
		if !ok {
			return
		}
		s = Scanner{Doc: doc}
		compact := AppendCompact(nil, &s)
		if !s.Done() || !json.Valid(compact) || !utf8.Valid(compact) {
			t.Fatalf("%q became %q", doc, compact)
		}
		s = Scanner{Doc: compact}
		if again := AppendCompact(nil, &s); string(again) != string(compact) {
			t.Fatalf("%q became %q", compact, again)
		}
	})
}
