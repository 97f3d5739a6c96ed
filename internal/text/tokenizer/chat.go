package tokenizer

import (
	"encoding/json"
	"fmt"
	"time"

	"aiperf/internal/text/jinja"
)

// template is a chat template with its name; "default" if the files give none.
type template struct{ name, source string }

// readTemplates reads the chat templates: from chat_template.jinja, otherwise chat_template.json, otherwise the configuration.
func (f *folder) readTemplates(t *Tokenizer) error {
	b, err := f.read("chat_template.jinja")
	if err != nil {
		return err
	}
	if b != nil {
		t.meta.templates = []template{{"default", string(b)}}
		return nil
	}
	raw, where := f.conf.ChatTemplate, "tokenizer_config.json"
	if b, err = f.read("chat_template.json"); err != nil {
		return err
	}
	if b != nil {
		var o struct {
			Template json.RawMessage `json:"chat_template"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return fmt.Errorf("%s: %w", f.files["chat_template.json"], err)
		}
		raw, where = o.Template, "chat_template.json"
	}
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		t.meta.templates = []template{{"default", one}}
		return nil
	}
	var many []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &many); err != nil {
		return fmt.Errorf("%s: chat_template is neither a text nor a list of {name, template}", f.files[where])
	}
	for _, m := range many {
		t.meta.templates = append(t.meta.templates, template{m.Name, m.Template})
	}
	return nil
}

// ChatTemplate returns the template for a chat with or without tools; ok is false if the tokenizer has none.
func (t *Tokenizer) ChatTemplate(tools bool) (source string, ok bool) {
	for _, name := range []string{"tool_use", "default"} {
		for _, x := range t.meta.templates {
			if x.name == name && (tools || name != "tool_use") {
				return x.source, true
			}
		}
	}
	return "", false
}

// ChatOptions are the inputs of a chat template besides the messages.
type ChatOptions struct {
	Tools               json.RawMessage        // list of tool definitions; nil = none
	AddGenerationPrompt bool                   // end with the beginning of the model's answer
	Extra               map[string]jinja.Value // further variables, such as enable_thinking
	Now                 func() time.Time       // clock of strftime_now; nil = the real one
}

// RenderChat renders messages, a JSON list of {"role": …, "content": …}, with the tokenizer's chat template. Encode the result with Append, because
// it already contains special tokens.
func (t *Tokenizer) RenderChat(messages json.RawMessage, o ChatOptions) (string, error) {
	vars := map[string]jinja.Value{"add_generation_prompt": o.AddGenerationPrompt, "documents": nil, "tools": nil}
	for k, v := range t.meta.texts {
		if v != "" {
			vars[k] = v
		}
	}
	for k, v := range o.Extra {
		vars[k] = v
	}
	m, err := jinja.FromJSON(messages)
	if err != nil {
		return "", fmt.Errorf("chat messages: %w", err)
	}
	vars["messages"] = m
	if len(o.Tools) > 0 {
		if vars["tools"], err = jinja.FromJSON(o.Tools); err != nil {
			return "", fmt.Errorf("chat tools: %w", err)
		}
	}
	source, ok := t.ChatTemplate(len(o.Tools) > 0)
	if !ok {
		return "", fmt.Errorf("tokenizer %q has no chat template", t.name)
	}
	parsed, err := t.parsed(source, o.Now)
	if err != nil {
		return "", fmt.Errorf("chat template of %q: %w", t.name, err)
	}
	text, err := parsed.Render(vars)
	if err != nil {
		return "", fmt.Errorf("chat template of %q: %w", t.name, err)
	}
	return text, nil
}

// parsed compiles a template. It caches the result by source, unless the clock is a given one.
func (t *Tokenizer) parsed(source string, now func() time.Time) (*jinja.Template, error) {
	if now == nil {
		if p, ok := t.meta.parsed.Load(source); ok {
			return p.(*jinja.Template), nil
		}
	}
	clock := now
	if clock == nil {
		clock = time.Now
	}
	env := jinja.Chat()
	env.Globals["strftime_now"] = jinja.Func(func(c *jinja.Call) (jinja.Value, error) {
		return jinja.Strftime(clock(), jinja.Str(c.Arg(0, "format", "")))
	})
	p, err := env.Parse(source)
	if err == nil && now == nil {
		t.meta.parsed.Store(source, p)
	}
	return p, err
}
