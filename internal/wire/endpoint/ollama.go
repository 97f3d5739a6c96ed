package endpoint

import (
	"bytes"
	"encoding/json"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/wire/framing"
	"aiperf/internal/workload/conversation"
)

// ollamaChat and ollamaGenerate implement Ollama's own APIs (github.com/ollama/ollama, docs/api.md). Answers stream as one JSON document per line.
var (
	ollamaChat = jsonType{encode: encodeOllamaChat, input: chatInput, begin: beginOllama, member: ollamaMember, after: afterOllama,
		newMemory: func() memoryBuilder { return new(ollamaMemory) }}
	ollamaGenerate = jsonType{encode: encodeOllamaGenerate, input: ollamaInput, begin: beginOllama, member: ollamaMember, after: afterOllama}
)

// ollamaLines is the framing of Ollama's streams.
var ollamaLines = framing.NDJSON{Last: ollamaLast}

// openOllama returns the Open function of a type. The run's "options" are sent together with the length of the turn; other extras are members of the
// body.
func openOllama(t jsonType) func(Settings) (Codec, error) {
	return func(s Settings) (Codec, error) {
		given, err := takeObject(&s, "options")
		if err != nil {
			return nil, err
		}
		one, encode := t, t.encode
		one.encode = func(b *body, t *conversation.Turn, h *History) error {
			if err := encode(b, t, h); err != nil {
				return err
			}
			var options object
			if t.MaxTokens != nil {
				options.setInt("num_predict", *t.MaxTokens)
			}
			if given != nil {
				options.merge(&jsontext.Scanner{Doc: given})
			}
			if len(options.members) > 0 {
				b.setObject("options", &options)
			}
			return nil
		}
		return one.open(s)
	}
}

// encodeOllamaChat writes the messages so far. Ollama streams unless the body disables streaming.
func encodeOllamaChat(b *body, t *conversation.Turn, h *History) error {
	b.setString("model", b.set.model(t))
	a := len(b.buf)
	b.buf = append(b.buf, '[')
	w := ollamaWriter{messageWriter{b: b, context: h.UserContext, prefix: h.System}}
	if !startsWithSystem(h.First(t)) {
		w.writePrefix()
	}
	if err := w.history(h.Past, t, w.turn); err != nil {
		return err
	}
	b.buf = append(b.buf, ']')
	b.end("messages", a)
	b.setBool("stream", b.set.Streaming)
	return b.tools(t, h)
}

// ollamaWriter writes messages whose content is one string.
type ollamaWriter struct{ messageWriter }

func (w *ollamaWriter) turn(t *conversation.Turn) error {
	if t.RawMessages != nil {
		return w.messageWriter.turn(t)
	}
	var texts []string
	for _, p := range t.Parts {
		if p.Text != "" && (p.Kind == conversation.Text || p.Kind == conversation.ToolResult) {
			texts = append(texts, p.Text)
		}
	}
	one := *t
	one.Parts = conversation.Texts("", strings.Join(texts, "\n\n"))
	return w.messageWriter.turn(&one)
}

// encodeOllamaGenerate writes a prompt.
func encodeOllamaGenerate(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "ollama_generate"); err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
	b.setString("prompt", h.text()+strings.Join(t.Contents(), " "))
	b.setBool("stream", b.set.Streaming)
	return nil
}

// ollamaInput reads the texts of a prompt. A system message given as an extra counts.
func ollamaInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) == "system" {
		x.prompt(s)
		return true
	}
	return promptInput(x, s, key)
}

// ollamaDoc holds the fields of the current document other than its texts.
type ollamaDoc struct {
	prompt, output []byte // numbers of tokens, JSON; nil = not in the document
	usage          []byte // the same, with the names of the other APIs
}

func beginOllama(d *jsonAnswer) {
	o := stateOf[ollamaDoc](d)
	o.prompt, o.output = nil, nil
}

// ollamaMember reads a member of a document. /api/chat has its texts in a message, /api/generate at the top level.
func ollamaMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	o, p := d.state.(*ollamaDoc), &d.chunk.delta
	switch string(key) {
	case "message":
		members(s, func(key string) {
			if !ollamaText(p, s, key) {
				s.Skip()
			}
		})
	case "done_reason":
		d.chunk.finish = s.Text()
	case "prompt_eval_count":
		o.prompt = s.Raw()
	case "eval_count":
		o.output = s.Raw()
	default:
		return ollamaText(p, s, string(key))
	}
	return true
}

// ollamaText reads a text of an answer into p; false = the member is not one of the texts.
func ollamaText(p *part, s *jsontext.Scanner, key string) bool {
	switch key {
	case "content", "response":
		p.content = s.Text()
	case "thinking":
		p.reasoningText = s.Text()
	case "tool_calls":
		p.readCalls(s)
	default:
		return false
	}
	p.set = true
	return true
}

// afterOllama converts the token counts of the document to usage.
func afterOllama(d *jsonAnswer) {
	o := d.state.(*ollamaDoc)
	if o.prompt == nil && o.output == nil {
		return
	}
	usage := jsontext.Open(o.usage[:0])
	if o.prompt != nil {
		usage.Raw("prompt_tokens", o.prompt)
	}
	if o.output != nil {
		usage.Raw("completion_tokens", o.output)
	}
	o.usage = usage.Close()
	d.chunk.usage = o.usage
}

// ollamaLast reports whether a document is the last of a stream, and whether it holds no text. Most documents lack the word "done", so the test is
// cheap.
func ollamaLast(doc []byte) (last, mark bool) {
	if !bytes.Contains(doc, []byte("true")) {
		return false, false
	}
	s := jsontext.Scanner{Doc: doc}
	var p part
	members(&s, func(key string) {
		switch {
		case key == "done":
			last = string(s.Raw()) == "true"
		case key == "message":
			members(&s, func(key string) {
				if !ollamaText(&p, &s, key) {
					s.Skip()
				}
			})
		case !ollamaText(&p, &s, key):
			s.Skip()
		}
	})
	last = last && s.Done()
	return last, last && p.content.Empty() && p.reasoningText.Empty() && len(p.tools) == 0
}

// ollamaMemory joins the pieces of an answer to the message that later turns repeat. Tool calls arrive whole; their arguments are objects.
type ollamaMemory struct{ text, calls []byte }

func (k *ollamaMemory) take(d *jsonAnswer) {
	p := d.chunk.chosen()
	k.text = p.appendText(k.text)
	for i := range p.tools {
		call, arguments := jsontext.Open(nil), p.tools[i].arguments.Append(nil)
		call.Text("name", p.tools[i].name.String())
		if json.Valid(arguments) {
			call.Raw("arguments", arguments)
		}
		if len(k.calls) > 0 {
			k.calls = append(k.calls, ',')
		}
		whole := jsontext.Open(k.calls)
		whole.Raw("function", call.Close())
		k.calls = whole.Close()
	}
}

// memory returns the answer as a message: its text, or its reasoning if there is nothing else, and its tool calls.
func (k *ollamaMemory) memory(d *jsonAnswer) Memory {
	content := k.text
	if len(content) == 0 && len(k.calls) == 0 {
		content = d.reasoning
	}
	if d.failed != nil || len(content) == 0 && len(k.calls) == 0 {
		return nil
	}
	message := jsontext.Open(nil)
	message.Text("role", "assistant")
	message.Text("content", string(content))
	if len(k.calls) > 0 {
		message.Raw("tool_calls", append(append([]byte{'['}, k.calls...), ']'))
	}
	return json.RawMessage(message.Close())
}
