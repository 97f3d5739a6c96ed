package hf

import (
	"encoding/json"
	"fmt"
)

// Wrap holds the special tokens that an encode with special tokens adds around a text.
type Wrap struct{ Before, After []int32 }

// postPart holds the settings of any post-processor.
type postPart struct {
	Type       string
	Processors []json.RawMessage
	Cls, Sep   []json.RawMessage // [text, id]
	Single     []struct {
		SpecialToken *struct{ ID string }
		Sequence     *struct{ ID string }
	}
	SpecialTokens map[string]struct{ IDs []int32 } `json:"special_tokens"`
}

// posts are the supported kinds, by their type. Each adds its tokens to w.
var posts = map[string]func(p *postPart, w *Wrap) error{
	"ByteLevel":          func(*postPart, *Wrap) error { return nil },
	"BertProcessing":     clsSep,
	"RobertaProcessing":  clsSep,
	"TemplateProcessing": template,
}

func clsSep(p *postPart, w *Wrap) error {
	for _, x := range []struct {
		name string
		pair []json.RawMessage
		list *[]int32
	}{{"cls", p.Cls, &w.Before}, {"sep", p.Sep, &w.After}} {
		var id int32
		if len(x.pair) != 2 || json.Unmarshal(x.pair[1], &id) != nil {
			return fmt.Errorf("%s is not of the form [text, id]", x.name)
		}
		*x.list = append(*x.list, id)
	}
	return nil
}

func template(p *postPart, w *Wrap) error {
	list := &w.Before
	for _, item := range p.Single {
		switch {
		case item.Sequence != nil:
			list = &w.After
		case item.SpecialToken != nil:
			t, ok := p.SpecialTokens[item.SpecialToken.ID]
			if !ok {
				return fmt.Errorf("single uses the token %q, which is missing in special_tokens", item.SpecialToken.ID)
			}
			*list = append(*list, t.IDs...)
		}
	}
	return nil
}

// read adds the tokens of a post_processor section.
func (w *Wrap) read(raw json.RawMessage, where string, depth int) error {
	if isNull(raw) {
		return nil
	}
	var p postPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if p.Type == "Sequence" {
		if depth > maxNested {
			return fmt.Errorf("%s: sequences nested deeper than %d", where, maxNested)
		}
		for i, r := range p.Processors {
			if err := w.read(r, fmt.Sprintf("%s.processors[%d]", where, i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	add, ok := posts[p.Type]
	if !ok {
		return unknown(where, p.Type, posts)
	}
	if err := add(&p, w); err != nil {
		return fmt.Errorf("%s (%s): %w", where, p.Type, err)
	}
	return nil
}
