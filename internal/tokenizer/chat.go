package tokenizer

import (
	"encoding/json"
	"fmt"
)

// template is a chat template with its name; "default" where the files give none.
type template struct{ name, source string }

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always can be
	return b
}

// readTemplates finds the chat templates: chat_template.jinja, else chat_template.json, else the configuration.
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

// ChatTemplate is the template for a chat with or without tools; ok is false when the tokenizer has none.
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
