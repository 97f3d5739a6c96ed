package hf

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/text/tokenizer/pipeline"
)

const small = `{"version": "1.0", "truncation": {"max_length": 2}, "added_tokens": [{"id": 9, "content": "<s>", "special": true}],
 "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
 "pre_tokenizer": null, "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
 "special_tokens": {"<s>": {"id": "<s>", "ids": [9], "tokens": ["<s>"]}}},
 "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
 "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true, "vocab": {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "ab": 4, "▁ab": 5, "<0x0A>": 6, "\u0022": 7}, "merges": ["a b", ["▁", "ab"]]}}`

func TestParseSmall(t *testing.T) {
	f, err := Parse([]byte(small), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int32{
		"": nil, "ab": {5}, "ab ab": {5, 5}, "a": {1, 2}, "xyz\n": {1, 6, 0}, "<s>ab": {9, 5}, `"`: {1, 7}, "ab  b": {5, 1, 1, 3},
	} {
		if got := idsOf(t, f.Pipeline, nil, text); !slices.Equal(got, want) {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
	}
	if got := f.Pipeline.Decode([]int32{9, 5, 6, 5}); got != "<s> ab\n ab" || !slices.Equal(f.Wrap.Before, []int32{9}) {
		t.Errorf("Decode = %q, wrap %v", got, f.Wrap)
	}
}

// Each change of the small file must be refused with an error that names the part.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ old, by, says string }{
		{`"type": "Prepend"`, `"type": "Foo"`, `normalizer.normalizers[0].type "Foo" is not supported`},
		{`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Foo"}`, `pre_tokenizer.type "Foo"`},
		{`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a)\\1"}, "behavior": "Isolated"}`, "back references"},
		{`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Odd"}`, `behavior "Odd"`},
		{`"type": "Fuse"`, `"type": "Foo"`, `decoder.decoders[2].type "Foo"`},
		{`"type": "TemplateProcessing"`, `"type": "Foo"`, `post_processor.type "Foo"`},
		{`"type": "BPE"`, `"type": "Foo"`, `model.type "Foo"`},
		{`"type": "BPE"`, `"type": "BPE", "dropout": 0.1`, "model.dropout is 0.1"},
		{`"unk_token": "<unk>"`, `"unk_token": "nope"`, `model.unk_token "nope"`},
		{`"a b"`, `"a c"`, `"c" is not in model.vocab`},
		{`"a b"`, `"ab"`, "two tokens"},
		{`["▁", "ab"]`, `["▁"]`, "expected two"},
		{`"ab": 4`, `"ab": -4`, "an id"},
		{`"ab": 4`, `"ab": 99999999999`, "an id of at most"},
		{`"model":`, `"mode":`, "model is missing"},
		{`"id": 9`, `"id": -1`, "added_tokens[0]"},
	} {
		changed := strings.Replace(small, c.old, c.by, 1)
		if changed == small {
			t.Fatalf("%s is not in the file", c.old)
		}
		if _, err := Parse([]byte(changed), Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.by, err, c.says)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small), "ab ab")
	f.Add([]byte(`{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1.5]]}, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAA=="}}`), "aé")
	f.Add([]byte(`{"model": {"vocab": {"[UNK]": 0, "a": 1, "##b": 2}, "max_input_chars_per_word": 10, "type": "WordPiece"}, "pre_tokenizer": {"type": "BertPreTokenizer"}, "normalizer": {"type": "BertNormalizer"}}`), "ab, c")
	f.Add([]byte(`{"model": {"vocab": {"a": 1}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}}`), "a")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		if len(file) > 2000 || len(text) > 12 {
			return
		}
		x, err := Parse(file, Options{})
		if err != nil {
			return
		}
		ids, err := x.Pipeline.Append(pipeline.Limits(len(text)), nil, text)
		if n, cerr := x.Pipeline.Count(pipeline.Limits(len(text)), text); err == nil && (cerr != nil || n != len(ids)) {
			t.Errorf("Count = %d of %d ids, %v", n, len(ids), cerr)
		}
		_ = x.Pipeline.Decode(ids)
	})
}

// What the reference library makes of rare files, recorded from it.
func TestRareFiles(t *testing.T) {
	const vocab = `"vocab": {"a": 0, "b": 1, "ab": 2, " ": 3, "\n": 4, "Ġ": 5, "ü": 6, "<u>": 7, "你": 8, "¼": 9}, "merges": ["a b"]`
	for name, c := range map[string]struct {
		file, text string
		ids        []int32
		back       string
	}{
		"a token beyond the byte alphabet is never met": {`{"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"},
			"model": {"type": "BPE", "unk_token": "<u>", ` + vocab + `}}`, "ab 你", []int32{2, 5, 7, 7, 7}, "ab <u><u><u>"},
		"white space that a token has taken is a token all the same": {`{"added_tokens": [{"id": 3, "content": " ", "rstrip": true, "normalized": false}],
			"model": {"type": "BPE", ` + vocab + `}, "decoder": {"type": "Fuse"}}`, "a   b", []int32{0, 3, 3, 3, 1}, "a   b"},
		"but not one of which nothing is left": {`{"added_tokens": [{"id": 3, "content": " ", "rstrip": true, "lstrip": true, "normalized": false}],
			"model": {"type": "BPE", ` + vocab + `}, "decoder": {"type": "Fuse"}}`, "a   b", []int32{0, 3, 1}, "a b"},
		"a normalized token decodes to what the normalizer makes of it": {`{"added_tokens": [{"id": 10, "content": "Don't", "normalized": true}],
			"normalizer": {"type": "Lowercase"}, "model": {"type": "BPE", ` + vocab + `}, "decoder": {"type": "Fuse"}}`, "aDON'T", []int32{0, 10}, "adon't"},
	} {
		f, err := Parse([]byte(c.file), Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := idsOf(t, f.Pipeline, nil, c.text)
		if back := f.Pipeline.Decode(got); !slices.Equal(got, c.ids) || back != c.back {
			t.Errorf("%s: %v %q, want %v %q", name, got, back, c.ids, c.back)
		}
	}
}

// idsOf are the ids of a text.
func idsOf(t *testing.T, p *pipeline.Pipeline, dst []int32, text string) []int32 {
	t.Helper()
	ids, err := p.Append(pipeline.Limits(len(text)), dst, text)
	if n, cerr := p.Count(pipeline.Limits(len(text)), text); err != nil || cerr != nil || n != len(ids)-len(dst) {
		t.Errorf("%q: %v, %v, %d counted of %d ids", text, err, cerr, n, len(ids)-len(dst))
	}
	return ids
}
