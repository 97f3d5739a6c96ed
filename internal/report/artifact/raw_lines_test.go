package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/record"
)

// events is a line of a raw export with a given number of responses, generated while it is read.
type events struct {
	n, next int
	left    []byte
}

const (
	lineHead = `{"metadata":{"request_start_ns":5},"start_perf_ns":1,"responses":[`
	lineTail = `],"status":200}` + "\n"
)

func (e *events) Read(p []byte) (int, error) {
	for len(e.left) == 0 {
		switch {
		case e.next == 0:
			e.left = append(e.left[:0], lineHead...)
		case e.next <= e.n:
			if e.next > 1 {
				e.left = append(e.left, ',')
			}
			e.left = fmt.Appendf(e.left, `{"perf_ns":%d,"packets":[{"name":"data","value":"{\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}"}]}`, e.next, strings.Repeat("x", 200))
		case e.next == e.n+1:
			e.left = append(e.left, lineTail...)
		default:
			return 0, io.EOF
		}
		e.next++
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

// TestLongLine: a line of 300,000 events is never in memory as a whole; reading it needs memory for its messages only.
func TestLongLine(t *testing.T) {
	testhome.Slow(t)
	const n = 300_000
	l := newRawLines(&events{n: n}, "raw")
	v, messages, err := l.next()
	if err != nil || len(messages) != n || messages[n-1].At != n || v.GetInt("status") != 200 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	if held := cap(l.rest) + cap(l.element); held > 64<<10 {
		t.Errorf("%d bytes of the line held", held)
	}
	if _, _, err := l.next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last line: %v", err)
	}
}

// TestBadLines: a line that is not from an export is refused with its place; a last line that was cut is skipped.
func TestBadLines(t *testing.T) {
	const good = `{"metadata":{},"responses":[{"text":"a]}\"\\"},{"packets":[]}],"x":{"responses":[1]}}` + "\n"
	for _, c := range []struct {
		in    string
		lines int
		says  string // "" = no error
	}{
		{good + good, 2, ""},
		{"\n  \n" + good + "\r\n", 1, ""},
		{good + strings.TrimSuffix(good, "\n"), 2, ""},
		{good + good[:40], 1, ""},
		{good + good[:70], 1, ""},
		{good + good[:40] + "\n" + good, 1, "raw:2: not a JSON object"},
		{`{"responses":[{},]}` + "\n", 0, "raw:1: not a JSON object: the list"},
		{`{"responses":[,{}]}` + "\n", 0, "raw:1: not a JSON object: a comma"},
		{`{"responses":[{}{}]}` + "\n", 0, "raw:1: not a JSON object: a response"},
		{`{"responses":[{},2]}` + "\n", 0, "raw:1: not a JSON object: a response"},
		{`{"responses":[{"a":}]}` + "\n", 0, "raw:1: not a JSON object: unexpected char"},
		{`{"responses":[{"a":1}}}` + "\n", 0, "raw:1: not a JSON object: the list"},
		{"}\n", 0, "raw:1: not a JSON object"},
		{"x\n", 0, "raw:1: not a JSON object"},
	} {
		l := newRawLines(strings.NewReader(c.in), "raw")
		n := 0
		var err error
		for err == nil {
			if _, _, err = l.next(); err == nil {
				n++
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if n != c.lines || (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%q: %d lines, %v", c.in, n, err)
		}
	}
}

// FuzzReadRaw reads anything as a raw export: what it holds is plausible. And it compares the reading in pieces with that of the whole line.
func FuzzReadRaw(f *testing.F) {
	f.Add([]byte(`{"metadata":{"request_start_ns":5,"turn_timestamp_ms":1},"start_perf_ns":1,"responses":[{"perf_ns":2,"packets":[{"name":"data","value":"x"}]},{"text":"y"}],"error":{"code":1},"payload":{"max_tokens":3}}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"responses":[{"perf_ns":1,"packets":[{"name":"data","value":"[\"]"}]} , {"text":"\\"}],"b":[1,{}]}`))
	f.Add([]byte(`{"a":"responses","responses":[],"c":{"responses":[{}]}}`))
	f.Add([]byte(`{"responses":null,"responses":[{}]}`))
	f.Add([]byte("0+\n"))
	f.Add([]byte("{\"a\n\":1}\n[{}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "raw.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = ReadRaw(path, func(r *record.Record) error {
			if r.Start <= 0 || r.MaxTokens < math.MinInt32 {
				t.Fatalf("%+v", r)
			}
			return nil
		})
		line, _, _ := bytes.Cut(data, []byte("\n"))
		want, wantErr := fastjson.ParseBytes(append(bytes.Clone(line), 0x0a))
		v, messages, err := newRawLines(bytes.NewReader(append(bytes.Clone(line), "\n{}"...)), "raw").next()
		if blank(line) {
			return
		}
		if wantErr != nil {
			if err == nil {
				t.Fatalf("%q is no JSON and was taken as %v", line, v)
			}
			return
		}
		if !hasPlainResponses(want) || err != nil && !json.Valid(line) { // fastjson takes 0+ as a number
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var all []record.Message
		for _, m := range want.GetArray("responses") {
			all = append(all, readMessage(m))
		}
		for _, m := range v.GetArray("responses") {
			messages = append(messages, readMessage(m))
		}
		if !reflect.DeepEqual(messages, all) {
			t.Fatalf("%q: %v, not %v", line, messages, all)
		}
	})
}

// hasPlainResponses tells whether a line has one list of responses at most and nothing but objects in it.
func hasPlainResponses(v *fastjson.Value) bool {
	o, err := v.Object()
	if err != nil {
		return true
	}
	n := 0
	o.Visit(func(key []byte, _ *fastjson.Value) {
		if string(key) == "responses" {
			n++
		}
	})
	for _, m := range v.GetArray("responses") {
		if m.Type() != fastjson.TypeObject {
			return false
		}
	}
	return n < 2
}

// TestRawNumbersOutOfRange: a number of a raw line that a double cannot hold is an error with its line, next to the responses and in them.
func TestRawNumbersOutOfRange(t *testing.T) {
	const line = `{"metadata":{"request_start_ns":5},"start_perf_ns":1,"responses":[{"perf_ns":2,"packets":[{"name":"data","value":"{}"}]}],"status":200}` + "\n"
	for _, c := range []struct{ was, is string }{{`_start_ns":5`, `_start_ns":1e400`}, {`"start_perf_ns":1`, `"start_perf_ns":-1e999`}, {`{"perf_ns":2`, `{"perf_ns":1e400`}} {
		lines := newRawLines(strings.NewReader(line+strings.Replace(line, c.was, c.is, 1)+line), "raw.jsonl")
		if _, _, err := lines.next(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := lines.next(); err == nil || !strings.Contains(err.Error(), "raw.jsonl:2: ") {
			t.Errorf("%s: %v", c.is, err)
		}
	}
}
