package results

import (
	"encoding/json"
	"sync/atomic"

	"aiperf/internal/measure/record"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/dataset/synth"
)

// TemplateCost returns the tokens that the chat template adds to generated prompts; zero for a tokenizer without a template.
func TemplateCost(tok *tokenizer.Tokenizer) synth.TemplateCost {
	return synth.MeasureTemplate(tok, tok.NumSpecialAdded(), func(list []synth.Message) (string, error) {
		messages := make([]map[string]string, len(list))
		for i, m := range list {
			messages[i] = map[string]string{"role": m.Role, "content": m.Content}
		}
		raw, err := json.Marshal(messages)
		if err != nil {
			return "", err
		}
		return tok.RenderChat(raw, tokenizer.ChatOptions{AddGenerationPrompt: true})
	})
}

// chatCounter counts the input tokens of chat requests as rendered by the chat template.
type chatCounter struct {
	tokenizers *Tokenizers
	failed     atomic.Int64 // requests whose messages the template refused
}

// input returns the number of tokens of a request; -1 if it has no messages, or if no template accepts them.
func (c *chatCounter) input(rec *record.Record, reply *record.Reply) int {
	n, err := TemplateTokens(c.tokenizers, rec, reply)
	if err != nil {
		c.failed.Add(1)
	}
	return n
}

// TemplateTokens returns the number of tokens of a chat request as rendered by the chat template of its model. It returns -1 if the request has no
// messages or the model no template. An error means that the template refuses the messages.
func TemplateTokens(all *Tokenizers, rec *record.Record, reply *record.Reply) (int, error) {
	body, ok := chatOf(rec.Payload.Bytes())
	if !ok {
		return -1, nil
	}
	tok := all.Of(rec.Model)
	if _, ok := tok.ChatTemplate(len(body.Tools) > 0); !ok {
		return -1, nil
	}
	for _, m := range body.Messages {
		m["content"] = plainContent(m["content"])
	}
	raw, err := json.Marshal(body.Messages)
	if err != nil {
		return -1, err
	}
	text, err := tok.RenderChat(raw, tokenizer.ChatOptions{Tools: body.Tools, AddGenerationPrompt: true})
	if err != nil {
		return -1, err
	}
	n, err := all.Count(rec.Model, text)
	if err != nil {
		return -1, err
	}
	return n + reply.InputTokens, nil
}

// chatBody holds the input of a chat template.
type chatBody struct {
	Messages []map[string]json.RawMessage `json:"messages"`
	Tools    json.RawMessage              `json:"tools"`
}

// chatOf reads the messages of a request; ok is false if it has none.
func chatOf(payload []byte) (b chatBody, ok bool) {
	ok = json.Unmarshal(payload, &b) == nil && len(b.Messages) > 0
	return b, ok
}

// plainContent returns the content of a message as one text: chat templates accept no list of parts, and parts without text are omitted.
func plainContent(raw json.RawMessage) json.RawMessage {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return raw
	}
	text := ""
	for _, p := range parts {
		text += p.Text
	}
	joined, err := json.Marshal(text)
	if err != nil {
		return raw
	}
	return joined
}
