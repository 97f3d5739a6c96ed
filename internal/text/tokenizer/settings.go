package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/hf"
	"aiperf/internal/text/tokenizer/model"
)

// text is a token in a configuration file: a string, {"content": …}, or null.
type text string

// UnmarshalJSON implements json.Unmarshaler. Any other value (false, a list) means no token.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	var o struct{ Content string }
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = text(s)
	case json.Unmarshal(b, &o) == nil:
		*t = text(o.Content)
	}
	return nil
}

// settings holds the content of tokenizer_config.json, special_tokens_map.json and added_tokens.json.
type settings struct {
	BOS  text `json:"bos_token"`
	EOS  text `json:"eos_token"`
	UNK  text `json:"unk_token"`
	SEP  text `json:"sep_token"`
	PAD  text `json:"pad_token"`
	CLS  text `json:"cls_token"`
	MASK text `json:"mask_token"`

	Additional     json.RawMessage `json:"additional_special_tokens"`
	Decoder        json.RawMessage `json:"added_tokens_decoder"`
	AddPrefixSpace *bool           `json:"add_prefix_space"`
	AddBOS         *bool           `json:"add_bos_token"`
	AddEOS         *bool           `json:"add_eos_token"`
	ChatTemplate   json.RawMessage `json:"chat_template"`
	Class          string          `json:"tokenizer_class"`
	AutoMap        json.RawMessage `json:"auto_map"`
	hf.BertFlags

	tokens []addedtokens.Token // all tokens named in the files
}

// readSettings reads the configuration files next to a tokenizer file.
func (f *folder) readSettings() error {
	for _, name := range []string{"special_tokens_map.json", "tokenizer_config.json"} { // the second one has priority
		b, err := f.read(name)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		if err := json.Unmarshal(b, &f.conf); err != nil {
			return fmt.Errorf("%s: %w", f.files[name], err)
		}
	}
	return f.conf.collect(f)
}

// collect lists the tokens named in the files: those with ids sorted by id, then the others.
func (s *settings) collect(f *folder) error {
	var decoder map[string]struct {
		Content                             string
		SingleWord                          bool `json:"single_word"`
		LStrip, RStrip, Normalized, Special bool
	}
	if len(s.Decoder) > 0 {
		if err := json.Unmarshal(s.Decoder, &decoder); err != nil {
			return fmt.Errorf("%s: added_tokens_decoder: %w", f.files["tokenizer_config.json"], err)
		}
	}
	for key, t := range decoder {
		id, err := strconv.ParseInt(key, 10, 24)
		if err != nil || id < 0 {
			return fmt.Errorf("%s: added_tokens_decoder: %q is not an id", f.files["tokenizer_config.json"], key)
		}
		s.tokens = append(s.tokens, addedtokens.Token{ID: int32(id), Content: t.Content, SingleWord: t.SingleWord, LStrip: t.LStrip,
			RStrip: t.RStrip, Normalized: t.Normalized, Special: t.Special})
	}
	b, err := f.read("added_tokens.json")
	if err != nil {
		return err
	}
	var plain map[string]int32
	if b != nil {
		if err := json.Unmarshal(b, &plain); err != nil {
			return fmt.Errorf("%s: %w", f.files["added_tokens.json"], err)
		}
	}
	for content, id := range plain {
		s.tokens = append(s.tokens, addedtokens.Token{ID: id, Content: content, Normalized: true})
	}
	sort.Slice(s.tokens, func(i, j int) bool { return s.tokens[i].ID < s.tokens[j].ID })
	for _, t := range s.special() {
		s.tokens = append(s.tokens, addedtokens.Token{ID: model.None, Content: t, Special: true})
	}
	return nil
}

// special returns the texts of the special tokens in the files.
func (s *settings) special() (list []string) {
	var more []text
	_ = json.Unmarshal(s.Additional, &more) // a value other than a list has no tokens
	for _, t := range append([]text{s.BOS, s.EOS, s.UNK, s.SEP, s.PAD, s.CLS, s.MASK}, more...) {
		if t != "" && !slices.Contains(list, string(t)) {
			list = append(list, string(t))
		}
	}
	return list
}

// apply sets the properties of a tokenizer. id returns the id of a token, wrap holds the tokens that its file adds around a text.
func (s *settings) apply(t *Tokenizer, id func(string) int32, wrap hf.Wrap) {
	lookup := func(x text) int32 {
		if x == "" {
			return model.None
		}
		return id(string(x))
	}
	t.meta.bos, t.meta.eos = lookup(s.BOS), lookup(s.EOS)
	for _, x := range s.special() {
		if n := id(x); n != model.None {
			t.meta.special[n] = true
		}
	}
	wrap.Before = toggle(wrap.Before, t.meta.bos, s.AddBOS, true)
	wrap.After = toggle(wrap.After, t.meta.eos, s.AddEOS, false)
	t.meta.before, t.meta.after = wrap.Before, wrap.After
	t.meta.texts = map[string]string{
		"bos_token": string(s.BOS), "eos_token": string(s.EOS), "unk_token": string(s.UNK), "sep_token": string(s.SEP),
		"pad_token": string(s.PAD), "cls_token": string(s.CLS), "mask_token": string(s.MASK),
	}
}

// toggle adds id at the front or the end of list, or removes it there, as the configuration requires (nil: no change).
func toggle(list []int32, id int32, want *bool, front bool) []int32 {
	if want == nil || id == model.None {
		return list
	}
	at := len(list) - 1
	if front {
		at = 0
	}
	has := len(list) > 0 && list[at] == id
	switch {
	case *want && !has && front:
		return append([]int32{id}, list...)
	case *want && !has:
		return append(slices.Clip(list), id)
	case !*want && has:
		return slices.Delete(slices.Clone(list), at, at+1)
	}
	return list
}
