package tokenizer

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
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

func FuzzGGUF(f *testing.F) {
	f.Add(ggufHeader(map[string]any{"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": []string{"<unk>", "a"}}))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = readGGUF(bytes.NewReader(b)) })
}

// FuzzEncode looks for texts on which counting, encoding and decoding contradict each other.
func FuzzEncode(f *testing.F) {
	f.Add("Hello, wörld! 漢字 👍🏽\n\n  <|endoftext|>")
	f.Add("\xf0\x9f e\u0301\u0323")
	f.Fuzz(func(t *testing.T, s string) {
		tk := mustBuiltin(t)
		ids := tk.Append(nil, s)
		if tk.Count(s) != len(ids) {
			t.Errorf("Count(%q) = %d of %d", s, tk.Count(s), len(ids))
		}
		if back := tk.Decode(ids); back != string([]rune(back)) || len(back) < len(s)/2 {
			t.Errorf("%q came back as %q", s, back)
		}
		for _, name := range realTokenizers {
			tk := openTest(t, name)
			if n := tk.Count(s); n != len(tk.Append(nil, s)) {
				t.Errorf("%s: Count(%q) = %d", name, s, n)
			}
		}
	})
}
