package tokenizer

import (
	"strings"
	"testing"
)

// TestEncodingOf: pairs are those that tiktoken 0.12's encoding_name_for_model gives.
func TestEncodingOf(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-4o": "o200k_base", "gpt-4o-mini": "o200k_base", "gpt-4o-2024-08-06": "o200k_base", "chatgpt-4o-latest": "o200k_base", "gpt-4.1-nano": "o200k_base",
		"gpt-5-mini": "o200k_base", "o1": "o200k_base", "o1-preview": "o200k_base", "o3-mini": "o200k_base", "o4-mini": "o200k_base", "gpt-oss-120b": "o200k_harmony",
		"gpt-4": "cl100k_base", "gpt-4-turbo": "cl100k_base", "gpt-4-0314": "cl100k_base", "gpt-3.5-turbo": "cl100k_base", "gpt-3.5-turbo-0301": "cl100k_base",
		"gpt-35-turbo": "cl100k_base", "text-embedding-3-small": "cl100k_base", "text-embedding-ada-002": "cl100k_base", "davinci-002": "cl100k_base",
		"text-davinci-003": "p50k_base", "text-davinci-edit-001": "p50k_edit", "text-ada-001": "r50k_base",
		"ft:gpt-4o:org::id": "o200k_base", "ft:gpt-3.5-turbo:org": "cl100k_base", "openai/gpt-4o": "o200k_base", "o200k_base": "o200k_base",
		"gpt-oss": "o200k_harmony",
		// No model of OpenAI, or one with its own repository.
		"openai/gpt-oss-20b": "", "gpt2": "", "openai-community/gpt2": "", "gpt-neox-20b": "", "gpt-j-6b": "", "o1x": "", "gpt-45": "", "org/gpt-4o": "", "": "", "-": "",
	} {
		if got, ok := EncodingOf(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestOpenAIModelsNeedNoHub: encodings in the binary open without a network, and others are never fetched offline.
func TestOpenAIModelsNeedNoHub(t *testing.T) {
	var told string
	env := map[string]string{"HF_HUB_OFFLINE": "1", "TIKTOKEN_CACHE_DIR": t.TempDir()}
	o := Options{Getenv: func(k string) string { return env[k] }, Info: func(_ string, args ...any) { told = args[0].(string) + " " + args[1].(string) }}
	tok, err := Open(t.Context(), "gpt-4o-mini", o)
	if err != nil || tok.Name() != "o200k_base" || told != "gpt-4o-mini o200k_base" {
		t.Errorf("%v, told %q", err, told)
	}
	_, err = Open(t.Context(), "gpt-4", o)
	if err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE forbids the network") || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("%v", err)
	}
}

// TestNotFoundInThreeLines: what, why, what to type.
func TestNotFoundInThreeLines(t *testing.T) {
	env := map[string]string{"HF_HUB_OFFLINE": "1", "HF_HOME": t.TempDir()}
	for _, spec := range []string{"org/model", "./nowhere", "no-such-model"} {
		_, err := Open(t.Context(), spec, Options{Getenv: func(k string) string { return env[k] }})
		if err == nil {
			t.Fatalf("%s was found", spec)
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "no tokenizer "+spec) || !strings.HasPrefix(lines[1], "  why: ") ||
			!strings.HasPrefix(lines[2], "  try: ") || !strings.Contains(lines[2], "tokenizer.name builtin") {
			t.Errorf("%v", err)
		}
	}
}
