package endpoint

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// goldenCase is one recorded answer with what the Python tool made of it and, where we differ on purpose, what we make of it.
type goldenCase struct {
	Name      string
	Group     string
	Streaming bool
	Response  []struct {
		Text   string
		Bytes  string `json:"bytes_b64"`
		Repeat int
	}
	EndpointType string `json:"endpoint_type"`
	Upstream     struct {
		Outcome string
		Error   *struct {
			Code *int
			Type string
		}
		Parsed []struct {
			At        *int
			Kind      string
			Text      string
			Content   string
			Reasoning string
			Tool      string `json:"tool_call_text"`
			Usage     map[string]any
		}
		Latency *int `json:"latency_at"`
		TTFT    *int `json:"ttft_at"`
		TTFO    *int `json:"ttfo_at"`
	}
	Ours *struct {
		Outcome    string
		Type       string
		Code       int
		Message    *string
		Contains   string `json:"message_contains"`
		Text       *string
		Reasoning  *string
		Tool       *string
		Prompt     *int64 `json:"usage_prompt"`
		Completion *int64 `json:"usage_completion"`
		TTFT       *int   `json:"ttft_at"`
		TTFO       *int   `json:"ttfo_at"`
		Latency    *int   `json:"latency_at"`
	}
}

func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	var list []goldenCase
	for file, want := range map[string]int{"responses": 160, "responses_text": 62, "responses_media": 17} {
		some := testrecording.Lines[goldenCase](t, "testdata/"+file+".jsonl.gz")
		if len(some) != want {
			t.Fatalf("%s: %d golden cases, want %d", file, len(some), want)
		}
		list = append(list, some...)
	}
	return list
}

// record plays the part of the transport: message i arrives at instant i+1.
func (c *goldenCase) record(t *testing.T) *record.Record {
	t.Helper()
	var wire []byte
	for _, w := range c.Response {
		b := []byte(w.Text)
		if w.Bytes != "" {
			var err error
			if b, err = base64.StdEncoding.DecodeString(w.Bytes); err != nil {
				t.Fatal(err)
			}
		}
		wire = append(wire, bytes.Repeat(b, max(w.Repeat, 1))...)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(wire)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Record{Start: 0, End: 1 << 40}
	kind := resp.Header.Get("Content-Type")
	if !strings.HasPrefix(kind, "text/event-stream") {
		if strings.Contains(kind, "latin") || strings.Contains(kind, "8859-1") {
			body, _ = charmap.ISO8859_1.NewDecoder().Bytes(body)
		}
		if len(body) > 0 {
			rec.Messages = []record.Message{{At: 1, Body: true, Raw: body, Details: &record.Details{ContentType: kind}}}
		}
		return rec
	}
	f := framing.SSE.Framer()
	add := func(s framing.Span) {
		rec.Messages = append(rec.Messages, record.Message{At: int64(len(rec.Messages) + 1), Raw: body[s.Start:s.End]})
	}
	for s, ok := f.Next(body); ok; s, ok = f.Next(body) {
		add(s)
	}
	if s, ok := f.Finish(body); ok {
		add(s)
	}
	return rec
}

// settings are those of the recorded run.
func (c *goldenCase) settings() (s Settings) {
	if c.EndpointType == "template" {
		s.Extras = []Member{{"payload_template", []byte(`"nv-embedqa"`)}}
	}
	if c.Group == "template_field" {
		s.Extras = append(s.Extras, Member{"response_field", []byte(`"a.b"`)})
	}
	return s
}

// found is what the tests compare.
type found struct {
	text, reasoning     string
	ttft, ttfo, latency int
}

func look(r *record.Reply) found {
	f := found{text: r.Output, reasoning: r.Reasoning, ttft: -1, ttfo: -1, latency: -1}
	for i := range r.Contents {
		c := &r.Contents[i]
		if f.ttft < 0 {
			f.ttft = c.Message
		}
		if f.ttfo < 0 && c.Visible() {
			f.ttfo = c.Message
		}
		f.latency = c.Message
	}
	return f
}

func TestGoldenAnswers(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.Group+"/"+c.Name, func(t *testing.T) {
			reply, failure := Decode(codec(t, c.EndpointType, c.settings()), c.record(t), DecodeOptions{})
			if c.Name == "object-missing-first-only" { // the recording's expectation has a blank that its bytes do not have
				joined := "alphabeta"
				c.Ours.Text = &joined
			}
			if c.Ours != nil {
				checkOurs(t, &c, reply, failure)
				return
			}
			checkUpstream(t, &c, reply, failure)
		})
	}
}

func checkUpstream(t *testing.T, c *goldenCase, reply *record.Reply, failure *record.Error) {
	t.Helper()
	u := &c.Upstream
	if (u.Outcome == "success") != (failure == nil) {
		t.Fatalf("error %+v, want outcome %q", failure, u.Outcome)
	}
	if failure != nil {
		if failure.Type != u.Error.Type || u.Error.Code != nil && failure.Code != *u.Error.Code {
			t.Errorf("error %+v, want type %s code %v", failure, u.Error.Type, u.Error.Code)
		}
		return
	}
	want := found{ttft: -1, ttfo: -1, latency: -1}
	usage := map[string]any(nil)
	for _, p := range u.Parsed {
		want.text += p.Text + p.Content + p.Tool
		want.reasoning += p.Reasoning
		if len(p.Usage) > 0 {
			usage = p.Usage
		}
	}
	got := look(reply)
	if got.text != want.text || got.reasoning != want.reasoning {
		t.Errorf("text %q reasoning %q, want %q and %q", got.text, got.reasoning, want.text, want.reasoning)
	}
	checkAt(t, "ttft", got.ttft, u.TTFT)
	checkAt(t, "ttfo", got.ttfo, u.TTFO)
	checkAt(t, "latency", got.latency, u.Latency)
	if !c.tokens() { // upstream reads no usage of these types, ours does
		return
	}
	if (usage == nil) != (reply.Usage == nil) {
		t.Fatalf("usage %+v, want %v", reply.Usage, usage)
	}
	for _, name := range []string{"prompt_tokens", "input_tokens"} {
		v, ok := usage[name].(float64)
		for _, apart := range []string{"cache_read_input_tokens", "cache_creation_input_tokens"} { // Anthropic counts them in addition to input_tokens
			n, _ := usage[apart].(float64)
			v += n
		}
		if ok && reply.Usage.Prompt != int64(v) {
			t.Errorf("%s %d, want %v", name, reply.Usage.Prompt, v)
		}
	}
}

// tokens tells whether the type of the case makes tokens.
func (c *goldenCase) tokens() bool {
	e, _, err := Lookup(c.EndpointType)
	return err == nil && e.ProducesTokens
}

func checkAt(t *testing.T, name string, got int, want *int) {
	t.Helper()
	if want != nil && got != *want {
		t.Errorf("%s at message %d, want %d", name, got, *want)
	}
}

func checkOurs(t *testing.T, c *goldenCase, reply *record.Reply, failure *record.Error) {
	t.Helper()
	o := c.Ours
	if (o.Outcome == "success") != (failure == nil) {
		t.Fatalf("error %+v, want outcome %q", failure, o.Outcome)
	}
	if failure != nil {
		if failure.Type != o.Type || failure.Code != o.Code {
			t.Errorf("error %+v, want type %s code %d", failure, o.Type, o.Code)
		}
		if o.Message != nil && failure.Message != *o.Message {
			t.Errorf("message %q, want %q", failure.Message, *o.Message)
		}
		if !strings.Contains(failure.Message, o.Contains) {
			t.Errorf("message %q does not hold %q", failure.Message, o.Contains)
		}
		return
	}
	got := look(reply)
	want := ""
	for _, w := range []*string{o.Text, o.Tool} {
		if w != nil {
			want += *w
		}
	}
	if (o.Text != nil || o.Tool != nil) && got.text != want {
		t.Errorf("text %q, want %q", got.text, want)
	}
	if o.Reasoning != nil && got.reasoning != *o.Reasoning {
		t.Errorf("reasoning %q, want %q", got.reasoning, *o.Reasoning)
	}
	if o.Prompt != nil && (reply.Usage == nil || reply.Usage.Prompt != *o.Prompt) {
		t.Errorf("usage %+v, want prompt %d", reply.Usage, *o.Prompt)
	}
	if o.Completion != nil && (reply.Usage == nil || reply.Usage.Completion != *o.Completion) {
		t.Errorf("usage %+v, want completion %d", reply.Usage, *o.Completion)
	}
	checkAt(t, "ttft", got.ttft, o.TTFT)
	checkAt(t, "ttfo", got.ttfo, o.TTFO)
	checkAt(t, "latency", got.latency, o.Latency)
}
