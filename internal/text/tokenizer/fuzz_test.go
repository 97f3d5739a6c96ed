package tokenizer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/text/tokenizer/utf8repair"
)

// ggufHeader writes a header of string and string-list keys.
func ggufHeader(keys map[string]any) []byte {
	b := []byte("GGUF")
	le := binary.LittleEndian
	str := func(s string) { b = append(le.AppendUint64(b, uint64(len(s))), s...) }
	b = le.AppendUint64(le.AppendUint64(le.AppendUint32(b, 3), 0), uint64(len(keys)))
	for k, v := range keys {
		str(k)
		switch x := v.(type) {
		case string:
			b = le.AppendUint32(b, ggufString)
			str(x)
		case []string:
			b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, ggufArray), ggufString), uint64(len(x)))
			for _, s := range x {
				str(s)
			}
		}
	}
	return b
}

func TestOpenGGUF(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	head := ggufHeader(map[string]any{
		"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.tokens": []string{"a", "b", "ab", "Ġ", "Ġab"},
		"tokenizer.ggml.merges": []string{"a b", "Ġ ab"},
	})
	if err := os.WriteFile(path, head, 0o644); err != nil {
		t.Fatal(err)
	}
	tk, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tk.Append(nil, "ab ab"); !slices.Equal(got, []int32{2, 4}) {
		t.Errorf("ids %v", got)
	}
}

// FuzzEncode looks for texts on which counting, encoding and decoding contradict each other, or themselves in another goroutine.
func FuzzEncode(f *testing.F) {
	f.Add("Hello, wörld! 漢字 👍🏽\n\n  <|endoftext|>")
	f.Add("\xf0\x9f e\u0301\u0323")
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range realTokenizers {
			tk := openTest(t, name)
			ids := tk.Append(nil, s)
			if n := tk.Count(s); n != len(ids) {
				t.Errorf("%s: Count(%q) = %d of %d", name, s, n, len(ids))
			}
			again := make(chan []int32)
			go func() { again <- tk.Append(nil, s) }()
			tk.Count(s)
			if got := <-again; !slices.Equal(got, ids) {
				t.Errorf("%s: %q gives %v beside another encode, %v alone", name, s, got, ids)
			}
			back := tk.Decode(ids)
			if back != utf8repair.Valid(back) {
				t.Errorf("%s: %q came back as %q, which is no UTF-8", name, s, back)
			}
			if byteLevel := name == "gpt2" || name == "builtin"; byteLevel && back != utf8repair.Valid(s) {
				t.Errorf("%s: %q came back as %q", name, s, back)
			}
			for _, id := range ids {
				if !tk.Known(id) {
					t.Errorf("%s: %q gives the id %d, which is none", name, s, id)
				}
			}
		}
	})
}

// FuzzRecorded splices texts whose ids the reference library has given, with a special token between them, so that the ids of the
// whole are those of the parts.
func FuzzRecorded(f *testing.F) {
	all := readAnswers(f)
	f.Add(uint16(1), uint16(2), uint16(3))
	f.Add(uint16(700), uint16(11), uint16(1234))
	f.Fuzz(func(t *testing.T, a, b, c uint16) {
		for _, name := range []string{"gpt2", "qwen2_5"} {
			tk := openTest(t, name)
			text, want := "", []int32{}
			for _, k := range []uint16{a, b, c} {
				i := int(k) % len(all.Texts)
				if !spliceable(all.Texts[i]) {
					return
				}
				text += all.Texts[i] + between
				want = append(append(want, all.Answers[name].IDs[i]...), tk.Append(nil, between)...)
			}
			if got := tk.Append(nil, text); !slices.Equal(got, want) {
				t.Errorf("%s: ids of %q\n got %v\nwant %v", name, text, got, want)
			}
		}
	})
}

// between parts texts: a separate token, which no text can cross.
const between = "<|endoftext|>"

// spliceable reports whether the next text cannot change the ends of a text.
func spliceable(s string) bool { return s == utf8repair.Valid(s) && !strings.ContainsAny(s, "<|>") }

// FuzzFiles opens folders with one hostile file, named by the first argument, and uses what opens.
func FuzzFiles(f *testing.F) {
	const small = `{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"<s>":3},"merges":["a b"]}}`
	kinds := []struct{ name, beside string }{{"m.gguf", ""}, {"tekken.json", ""}, {"tokenizer_config.json", small}, {"added_tokens.json", small}}
	for _, seed := range []struct {
		kind byte
		text string
	}{
		{0, string(ggufHeader(map[string]any{"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": []string{"<unk>", "a"}}))},
		{1, tinyTekken()},
		{1, `{"config":{"pattern":"[","default_vocab_size":1,"default_num_special_tokens":-1},"vocab":[{"rank":0,"token_bytes":"AA=="}]}`},
		{2, `{"bos_token":"<s>","eos_token":{"content":"</s>"},"add_bos_token":true,"add_eos_token":true,"add_prefix_space":true,` +
			`"added_tokens_decoder":{"7":{"content":"<x>","special":true,"lstrip":true}},"additional_special_tokens":["<y>"],` +
			`"chat_template":[{"name":"default","template":"{{ messages }}"}],"tokenizer_class":"LlamaTokenizer","do_lower_case":true}`},
		{2, `{"added_tokens_decoder":{"99999999":{"content":"a"}},"chat_template":"{% for m in messages %}{{ m.content }}{% endfor %}"}`},
		{3, `{"<x>": 5, "a b": 6}`},
		{3, `{"": -1, "ab": 2147483647}`},
	} {
		f.Add(seed.kind, []byte(seed.text))
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		k := kinds[int(kind)%len(kinds)]
		if k.name == "m.gguf" {
			_, _ = readGGUF(bytes.NewReader(b))
			return
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"tokenizer.json": k.beside, k.name: string(b)} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tk, err := Open(t.Context(), dir, Options{})
		if err != nil {
			return
		}
		ids := tk.Append(nil, "ab <s> <x> ab\n")
		if n := tk.Count("ab <s> <x> ab\n"); n != len(ids) {
			t.Errorf("Count = %d of %d", n, len(ids))
		}
		_ = tk.Decode(ids)
		_ = tk.AppendSpecial(nil, "a")
		_, _ = tk.RenderChat([]byte(`[{"role":"user","content":"a"}]`), ChatOptions{})
	})
}

// tinyTekken is a tekken.json of single bytes and one pair.
func tinyTekken() string {
	var b strings.Builder
	b.WriteString(`{"config":{"pattern":"\\s+|\\S+","default_vocab_size":260,"default_num_special_tokens":3},"vocab":[`)
	for i := range 256 {
		fmt.Fprintf(&b, `{"rank":%d,"token_bytes":%q},`, i, base64.StdEncoding.EncodeToString([]byte{byte(i)}))
	}
	fmt.Fprintf(&b, `{"rank":256,"token_bytes":%q}]}`, base64.StdEncoding.EncodeToString([]byte("ab")))
	return b.String()
}
