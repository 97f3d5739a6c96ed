package tokenizer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// env makes an environment of pairs; the cache is an empty directory.
func env(t *testing.T, pairs ...string) func(string) string {
	m := map[string]string{"HF_HUB_CACHE": t.TempDir(), "TIKTOKEN_CACHE_DIR": t.TempDir()}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

// folderWith writes files into a new directory.
func folderWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenDirectory(t *testing.T) {
	dir := folderWith(t, map[string]string{
		"tokenizer.json":        string(unpack(t, "gpt2.json")),
		"tokenizer_config.json": `{"bos_token": {"content": "<|endoftext|>"}, "eos_token": "<|endoftext|>", "add_bos_token": true, "pad_token": "<pad>", "additional_special_tokens": ["<x>"]}`,
		"chat_template.jinja":   "{% for m in messages %}{{ bos_token }}{{ m.role }}: {{ m.content.strip() }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}",
	})
	for _, offline := range []string{"", "1"} { // a directory needs no network, whatever the switches say
		tk, err := Open(t.Context(), dir, Options{Revision: "abc", Getenv: env(t, "HF_HUB_OFFLINE", offline)})
		if err != nil {
			t.Fatal(err)
		}
		bos, _ := tk.BOS()
		eos, _ := tk.EOS()
		if bos != 50256 || eos != 50256 || tk.NumSpecialAdded() != 1 || tk.VocabSize() != 50257 {
			t.Errorf("BOS %d, EOS %d, adds %d, size %d", bos, eos, tk.NumSpecialAdded(), tk.VocabSize())
		}
		if got := tk.Append(nil, "a<pad><x>"); !slices.Equal(got, []int32{64, 50257, 50258}) || !tk.IsSpecial(50258) {
			t.Errorf("tokens of the configuration give %v", got)
		}
		if got := tk.AppendSpecial(nil, "a"); !slices.Equal(got, []int32{50256, 64}) {
			t.Errorf("AppendSpecial = %v", got)
		}
		text, err := tk.RenderChat(json.RawMessage(`[{"role": "user", "content": " hi "}]`), ChatOptions{AddGenerationPrompt: true})
		if err != nil || text != "<|endoftext|>user: hi\nassistant:" {
			t.Errorf("RenderChat = %q, %v", text, err)
		}
	}
}

func TestOpenRefusals(t *testing.T) {
	empty := t.TempDir()
	bad := folderWith(t, map[string]string{"tokenizer.json": `{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "normalizer": {"type": "Nope"}}`})
	ranks := folderWith(t, map[string]string{"odd.tiktoken": "YQ== 0\n"})
	custom := folderWith(t, map[string]string{"tokenizer_config.json": `{"tokenizer_class": "OddTokenizer", "auto_map": {"AutoTokenizer": ["x.Odd", null]}}`})
	for spec, says := range map[string]string{
		"":                        "the tokenizer name is empty",
		custom:                    `tokenizer_class "OddTokenizer"`,
		filepath.Join(empty, "x"): "directory not found",
		"./nowhere":               "directory not found",
		empty:                     "No Standard Tokenizer",
		bad:                       `normalizer.type "Nope" is not supported`,
		ranks:                     "unknown family",
		"nosuch/model":            "Run online once to populate the cache, or unset HF_HUB_OFFLINE",
		"cl100k_base":             "HF_HUB_OFFLINE forbids the network",
	} {
		_, err := Open(t.Context(), spec, Options{Getenv: env(t, "HF_HUB_OFFLINE", "on")})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %q", spec, err, says)
		}
	}
}

func TestOpenTekkenByEitherName(t *testing.T) {
	for _, name := range []string{"tekken.json", "tekken_240718.json"} {
		dir := folderWith(t, map[string]string{name: tinyTekken()})
		for _, spec := range []string{dir, filepath.Join(dir, name)} {
			tk, err := Open(t.Context(), spec, Options{})
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			if got := tk.Append(nil, "ab<s>"); !slices.Equal(got, []int32{3 + 256, 3 + '<', 3 + 's', 3 + '>'}) {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

func TestOpenEncodings(t *testing.T) {
	tk, err := Open(t.Context(), "o200k_harmony", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tk.Append(nil, "<|start|>hi<|end|><|reserved_200500|><|endofprompt|>"); tk.VocabSize() != 201088 ||
		!slices.Equal(got, []int32{200006, 3686, 200007, 200500, 200018}) {
		t.Errorf("harmony gives %v, size %d", got, tk.VocabSize())
	}
}

// A list in the cache under the SHA-1 of its URL is used only if its bytes are the published ones.
func TestOpenEncodingChecksTheList(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"), []byte("YQ== 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), "cl100k_base", Options{Getenv: env(t, "TIKTOKEN_CACHE_DIR", dir, "TRANSFORMERS_OFFLINE", "1")})
	if err == nil || !strings.Contains(err.Error(), "9b5ad71b2ce5302211f9c61530b329a4922fc6a4") {
		t.Errorf("error %v, want one that names the cached file", err)
	}
}

func TestOpenHub(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	body := unpack(t, "bert.json")
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/models":
			fmt.Fprint(w, `[{"id": "o/tiny-bert", "downloads": 1}]`)
		case strings.HasPrefix(r.URL.Path, "/api/models/o/tiny-bert/revision/"):
			fmt.Fprintf(w, `{"sha": %q, "siblings": [{"rfilename": "tokenizer.json"}, {"rfilename": "model.bin"}]}`, commit)
		case r.URL.Path == "/o/tiny-bert/resolve/"+commit+"/tokenizer.json":
			_, _ = w.Write(body)
		default:
			w.Header().Set("X-Error-Code", "RepoNotFound")
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer hub.Close()
	getenv := env(t, "HF_ENDPOINT", hub.URL)
	var told []string
	o := Options{Getenv: getenv, Info: func(f string, a ...any) { told = append(told, fmt.Sprintf(f, a...)) }}
	for _, spec := range []string{"o/tiny-bert", "tiny-bert"} {
		tk, err := Open(t.Context(), spec, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := tk.Append(nil, "hello world"); tk.Name() != "o/tiny-bert" || !slices.Equal(got, []int32{7592, 2088}) || tk.NumSpecialAdded() != 2 {
			t.Errorf("%s: %s gives %v", spec, tk.Name(), got)
		}
	}
	if !slices.Equal(told, []string{"tokenizer tiny-bert → o/tiny-bert"}) {
		t.Errorf("told %q", told)
	}
}

// An endpoint that cannot be reached fails well within ten seconds.
func TestOpenHubDown(t *testing.T) {
	testhome.Slow(t)
	const down = "http://127.0.0.1:1"
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := Open(ctx, "nosuchorg/nosuchmodel", Options{Getenv: env(t, "HF_ENDPOINT", down)})
	if err == nil || !strings.Contains(err.Error(), "Offline - Files Not Cached") || !strings.Contains(err.Error(), strings.TrimPrefix(down, "http://")) || ctx.Err() != nil {
		t.Errorf("error %v", err)
	}
}

func TestIsPlaceholder(t *testing.T) {
	for name, want := range map[string]bool{
		"mock-model": true, "Test_Model_v2": true, "dummy": true, "TEST": true, "my-model": true, "contestant": false, "testing": false,
		"mocker": false, "m": false, "org/test": false, "./test": false, "~test": false,
	} {
		if IsPlaceholder(name) != want {
			t.Errorf("IsPlaceholder(%q) = %v", name, !want)
		}
	}
}

func TestOpenTekken(t *testing.T) {
	var vocab []string
	for i := range 256 {
		vocab = append(vocab, fmt.Sprintf(`{"rank": %d, "token_bytes": %q}`, i, base64.StdEncoding.EncodeToString([]byte{byte(i)})))
	}
	vocab = append(vocab, `{"rank": 256, "token_bytes": "aGk="}`) // hi
	dir := folderWith(t, map[string]string{"tekken.json": `{"config": {"pattern": "\\w+|\\W", "default_vocab_size": 267, "default_num_special_tokens": 10},
		"vocab": [` + strings.Join(vocab, ",") + `]}`})
	tk, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tk.Append(nil, "hi <s>"); !slices.Equal(got, []int32{266, 42, 70, 125, 72}) || tk.NumSpecialAdded() != 1 {
		t.Errorf("ids %v, adds %d", got, tk.NumSpecialAdded())
	}
	if got := tk.Decode([]int32{1, 266}); got != "<s>hi" {
		t.Errorf("Decode = %q", got)
	}
}

func TestOpenOldVocabularies(t *testing.T) {
	var file struct {
		Model struct {
			Vocab  map[string]int
			Merges []json.RawMessage
		}
	}
	if err := json.Unmarshal(unpack(t, "gpt2.json"), &file); err != nil {
		t.Fatal(err)
	}
	merges := []string{"#version: 0.2"}
	for _, m := range file.Model.Merges {
		var pair []string
		var one string
		if json.Unmarshal(m, &one) != nil {
			if err := json.Unmarshal(m, &pair); err != nil {
				t.Fatal(err)
			}
			one = strings.Join(pair, " ")
		}
		merges = append(merges, one)
	}
	vocab, _ := json.Marshal(file.Model.Vocab)
	old, err := Open(t.Context(), folderWith(t, map[string]string{"vocab.json": string(vocab), "merges.txt": strings.Join(merges, "\n")}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := openTest(t, "gpt2")
	for _, v := range vectors(t) {
		if strings.Contains(v.Text, "<|endoftext|>") {
			continue // no configuration names it
		}
		if a, b := old.Append(nil, v.Text), want.Append(nil, v.Text); !slices.Equal(a, b) {
			t.Errorf("%q: %v, want %v", v.Text, a, b)
		}
	}
	bert := openTest(t, "bert")
	var lines []string
	for i := range bert.VocabSize() {
		var m struct {
			Model struct{ Vocab map[string]int }
		}
		if i == 0 {
			if err := json.Unmarshal(unpack(t, "bert.json"), &m); err != nil {
				t.Fatal(err)
			}
			lines = make([]string, len(m.Model.Vocab))
			for s, id := range m.Model.Vocab {
				lines[id] = s
			}
		}
	}
	txt, err := Open(t.Context(), folderWith(t, map[string]string{"vocab.txt": strings.Join(lines, "\n") + "\n"}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors(t) {
		if a, b := txt.Append(nil, v.Text), bert.Append(nil, v.Text); !slices.Equal(a, b) {
			t.Errorf("%q: %v, want %v", v.Text, a, b)
		}
	}
}
