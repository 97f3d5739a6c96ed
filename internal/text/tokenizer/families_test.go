package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sentencePieceFile is a SentencePiece model as protobuf: pieces with a text, a score and a kind, and the kind of the model.
func sentencePieceFile(kind uint64, pieces ...sentencePiece) string {
	field := func(n int, b []byte) []byte {
		return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(n<<3|2)), uint64(len(b))), b...)
	}
	number := func(n int, v uint64) []byte { return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(n<<3)), v) }
	var out []byte
	for _, p := range pieces {
		b := append(field(1, []byte(p.text)), 2<<3|5)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(p.score))
		out = append(out, field(1, append(b, number(3, p.kind)...))...)
	}
	return string(append(out, field(2, number(3, kind))...))
}

type sentencePiece struct {
	text  string
	score float32
	kind  uint64 // 1 normal, 2 unknown, 3 control
}

// llama is a small vocabulary in the way of Llama 2.
var llama = []sentencePiece{
	{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}, {"▁", -3, 1}, {"a", -2, 1}, {"b", -2.5, 1}, {"ab", -1, 1}, {"▁ab", -0.5, 1},
}

// TestSentencePieceFolder: a tokenizer.model is loaded as its class does: Llama begins a text with <s>, T5 ends it with </s>.
func TestSentencePieceFolder(t *testing.T) {
	for class, want := range map[string][]int32{"LlamaTokenizer": {1, 7}, "T5Tokenizer": {7, 2}, "XGLMTokenizer": {7}} {
		dir := folderWith(t, map[string]string{"tokenizer.model": sentencePieceFile(2, llama...), "tokenizer_config.json": fmt.Sprintf(`{"tokenizer_class":%q}`, class)})
		tk, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		bos, hasBOS := tk.BOS()
		eos, hasEOS := tk.EOS()
		if got := tk.AppendSpecial(nil, "ab"); !slices.Equal(got, want) || tk.VocabSize() != len(llama) {
			t.Errorf("%s: %v, want %v; %d tokens", class, got, want, tk.VocabSize())
		}
		if got := tk.Append(nil, "ab ab"); !slices.Equal(got, []int32{7, 7}) || tk.Decode(got) != "ab ab" || !hasBOS || bos != 1 || !hasEOS || eos != 2 {
			t.Errorf("%s: %v, BOS %d %v, EOS %d %v", class, got, bos, hasBOS, eos, hasEOS)
		}
	}
	if _, err := Open(t.Context(), folderWith(t, map[string]string{"tokenizer.model": "\xff\xff\xff"}), Options{}); err == nil || !strings.Contains(err.Error(), "tokenizer.model") {
		t.Errorf("no model: %v", err)
	}
}

// TestGGUFWithScores: the vocabulary of a GGUF file of the llama kind is that of its SentencePiece model.
func TestGGUFWithScores(t *testing.T) {
	var b []byte
	le := binary.LittleEndian
	str := func(s string) { b = append(le.AppendUint64(b, uint64(len(s))), s...) }
	list := func(key string, kind uint32, add func(p sentencePiece)) {
		str(key)
		b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, ggufArray), kind), uint64(len(llama)))
		for _, p := range llama {
			add(p)
		}
	}
	b = append(b, "GGUF"...)
	b = le.AppendUint64(le.AppendUint64(le.AppendUint32(b, 3), 0), 7)
	str("tokenizer.ggml.model")
	b = le.AppendUint32(b, ggufString)
	str("llama")
	list("tokenizer.ggml.tokens", ggufString, func(p sentencePiece) { str(p.text) })
	list("tokenizer.ggml.scores", 6, func(p sentencePiece) { b = le.AppendUint32(b, math.Float32bits(p.score)) })
	list("tokenizer.ggml.token_type", 5, func(p sentencePiece) { b = le.AppendUint32(b, uint32(p.kind)) })
	str("tokenizer.ggml.bos_token_id")
	b = le.AppendUint32(le.AppendUint32(b, 4), 1)
	str("tokenizer.ggml.eos_token_id")
	b = le.AppendUint32(le.AppendUint32(b, 4), 2)
	str("tokenizer.chat_template")
	b = le.AppendUint32(b, ggufString)
	str("{% for m in messages %}{{ m.content }}{% endfor %}")

	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	tk, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	bos, _ := tk.BOS()
	eos, _ := tk.EOS()
	if got := tk.Append(nil, "ab ba"); !slices.Equal(got, []int32{7, 3, 5, 4}) || bos != 1 || eos != 2 {
		t.Errorf("%v, BOS %d, EOS %d", got, bos, eos)
	}
	if got, err := tk.RenderChat([]byte(`[{"role":"user","content":"ab"}]`), ChatOptions{}); err != nil || got != "ab" {
		t.Errorf("%q %v", got, err)
	}
	for cut, says := range map[int]string{3: "GGUF header", 60: "GGUF header"} {
		if err := os.WriteFile(path, b[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
}

// rankList is a list of all single bytes and some more texts.
func rankList(more ...string) string {
	var b strings.Builder
	for i := range 256 {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(i)}), i)
	}
	for i, s := range more {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(s)), 256+i)
	}
	return b.String()
}

// TestRankListsOfFamilies: what a rank list does not say, how text is split and which special tokens follow, is known of its family.
func TestRankListsOfFamilies(t *testing.T) {
	for _, c := range []struct {
		file, config, text string
		want               []int32
		eos                int32
	}{
		{"qwen.tiktoken", `{}`, "ab<|im_start|>", []int32{256, 259}, 258},
		{"tiktoken.model", `{"tokenizer_class":"TikTokenTokenizer","eos_token":"[EOS]","added_tokens_decoder":{"258":{"content":"[BOS]","special":true},"259":{"content":"[EOS]","special":true}}}`,
			"ab[EOS]<|reserved_token_260|>", []int32{256, 259, 260}, 259},
		{"tokenizer.model", `{"tokenizer_class":"ChatGLM4Tokenizer","eos_token":"<e>","added_tokens_decoder":{"300":{"content":"<e>","special":true}}}`, "xab<e>", []int32{120, 256, 300}, 300},
	} {
		tk, err := Open(t.Context(), folderWith(t, map[string]string{c.file: rankList("ab", "xa"), "tokenizer_config.json": c.config}), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if got := tk.Append(nil, c.text); !slices.Equal(got, c.want) || tk.Decode(got) != c.text {
			t.Errorf("%s: %q is %v, want %v, and back %q", c.file, c.text, got, c.want, tk.Decode(got))
		}
		if id, ok := tk.EOS(); !ok || id != c.eos {
			t.Errorf("%s: EOS %d %v, want %d", c.file, id, ok, c.eos)
		}
	}
	_, err := Open(t.Context(), folderWith(t, map[string]string{"tokenizer.model": rankList(), "tokenizer_config.json": `{"tokenizer_class":"Odd"}`}), Options{})
	as := func(key string) string { return "--" + strings.ReplaceAll(key, ".", "-") }
	if err == nil || IsMissing(err) || !strings.Contains(Worded(err, as).Error(), "try: --tokenizer-name with the tokenizer of a compatible model") {
		t.Errorf("a list of nobody's: %v", Worded(err, as))
	}
}

// answer is a transport that answers every request alike and remembers the last one.
type answer struct {
	status int
	body   string
	asked  string
}

func (a *answer) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked = r.URL.String()
	return &http.Response{StatusCode: a.status, Status: fmt.Sprint(a.status, " ", http.StatusText(a.status)), Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

// TestFetchedEncoding: a list that is not at hand is fetched; one with other bytes than the published ones is refused and not kept, and one
// that is not available is reported in three lines.
func TestFetchedEncoding(t *testing.T) {
	dir := t.TempDir()
	a := &answer{status: http.StatusOK, body: "YQ== 0\n"}
	o := Options{Getenv: env(t, "TIKTOKEN_CACHE_DIR", dir), HTTP: &http.Client{Transport: a}}
	if _, err := Open(t.Context(), "cl100k_base", o); err == nil || !strings.Contains(err.Error(), "has the SHA-256") || !strings.HasSuffix(a.asked, "/cl100k_base.tiktoken") {
		t.Errorf("%v after %s", err, a.asked)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is kept, %v", left, err)
	}
	a.status = http.StatusNotFound
	_, err := Open(t.Context(), "cl100k_base", o)
	if !IsMissing(err) || !strings.Contains(err.Error(), "404 Not Found") || IsMissing(errors.New("another")) {
		t.Errorf("%v", err)
	}
	if text := Worded(err, func(string) string { return "--tokenizer" }).Error(); !strings.Contains(text, "\n  try: run once online, or copy the list there, or --tokenizer builtin") {
		t.Error(text)
	}
}

// TestKeptRanks: a list is kept whole or not at all.
func TestKeptRanks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "list")
	keepRanks(path, []byte("YQ== 0\n"))
	if got, err := os.ReadFile(path); err != nil || string(got) != "YQ== 0\n" {
		t.Errorf("%q %v", got, err)
	}
	keepRanks(filepath.Join(path, "below", "a file"), []byte("x")) // nowhere: no failure
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}
