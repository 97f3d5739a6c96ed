package results

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/dataset/synth"
)

// template is what a server might put around messages; every piece of it and every sample costs whole tokens of one byte each.
const template = `{% if tools %}T{{ tools | length }}{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }};{% endfor %}{% if add_generation_prompt %}<a>{% endif %}`

// bytewise opens a tokenizer whose tokens are single bytes, with a chat template.
func bytewise(t *testing.T, chat string) *tokenizer.Tokenizer {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"tokenizer.json": bytewiseFile(), "tokenizer_config.json": `{}`, "chat_template.jinja": chat} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tok, err := tokenizer.Open(t.Context(), dir, tokenizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// bytewiseFile is a byte-level vocabulary of printable ASCII without merges.
func bytewiseFile() string {
	vocab := `"Ġ":0`
	for c, id := byte('!'), 1; c <= '~'; c, id = c+1, id+1 {
		quoted := string(c)
		if c == '"' || c == '\\' {
			quoted = `\` + quoted
		}
		vocab += `,"` + quoted + `":` + itoa(id)
	}
	return `{"model":{"type":"BPE","vocab":{` + vocab + `},"merges":[]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},"added_tokens":[]}`
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestTemplateCost(t *testing.T) {
	// A user message costs "<user>" and ";", an assistant's "<assistant>" and ";": 7 and 12, the answer's beginning 3.
	if got, want := TemplateCost(bytewise(t, template)), (synth.TemplateCost{Request: 0, Message: 10}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := TemplateCost(bytewise(t, "")); got != (synth.TemplateCost{}) {
		t.Errorf("without a template: %+v", got)
	}
}

func TestChatCounter(t *testing.T) {
	tok := bytewise(t, template)
	c := &chatCounter{tokenizers: &Tokenizers{first: tok, byModel: map[string]*tokenizer.Tokenizer{}}}
	for _, one := range []struct {
		body string
		want int
	}{
		{`{"messages":[{"role":"user","content":"hello"}]}`, len("<user>hello;<a>")},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"he"},{"type":"image_url"},{"type":"text","text":"llo"}]}]}`, len("<user>hello;<a>")},
		{`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"hello"}],"tools":[{"name":"f"}]}`, len("T1<system>s;<user>hello;<a>")},
		{`{"prompt":"hello"}`, -1}, {`{"messages":[]}`, -1}, {`not JSON`, -1},
	} {
		if got := c.input(&record.Record{Payload: record.Plain([]byte(one.body))}, &record.Reply{}); got != one.want {
			t.Errorf("%s: %d, want %d", one.body, got, one.want)
		}
	}
	if n := c.failed.Load(); n != 0 {
		t.Errorf("%d failures", n)
	}
	c.tokenizers.first = bytewise(t, `{{ raise_exception("no") }}`)
	if got := c.input(&record.Record{Payload: record.Plain([]byte(`{"messages":[{"role":"user","content":"a"}]}`))}, &record.Reply{}); got != -1 || c.failed.Load() != 1 {
		t.Errorf("a template that refuses: %d, %d failures", got, c.failed.Load())
	}
	c.tokenizers.first = bytewise(t, "")
	if got := c.input(&record.Record{Payload: record.Plain([]byte(`{"messages":[{"role":"user","content":"a"}]}`))}, &record.Reply{}); got != -1 || c.failed.Load() != 1 {
		t.Errorf("no template: %d, %d failures", got, c.failed.Load())
	}
}
