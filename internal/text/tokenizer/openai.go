package tokenizer

import "strings"

// OpenAI's models have no repository: their tokenizers are the published encodings (tiktoken 0.12, model.py).

// openAIModels are names that also match with a hyphen and a suffix such as a date: gpt-4o-2024-08-06. The longest match wins, so gpt-4o is not
// treated as gpt-4.
var openAIModels = map[string]string{
	"o1": "o200k_base", "o3": "o200k_base", "o4-mini": "o200k_base", "gpt-5": "o200k_base", "gpt-4.5": "o200k_base", "gpt-4.1": "o200k_base",
	"gpt-4o": "o200k_base", "chatgpt-4o": "o200k_base", "gpt-oss": "o200k_harmony",
	"gpt-4": "cl100k_base", "gpt-3.5": "cl100k_base", "gpt-3.5-turbo": "cl100k_base", "gpt-35-turbo": "cl100k_base",
}

// openAINames are names that match only as a whole.
var openAINames = map[string]string{
	"davinci-002": "cl100k_base", "babbage-002": "cl100k_base",
	"text-embedding-ada-002": "cl100k_base", "text-embedding-3-small": "cl100k_base", "text-embedding-3-large": "cl100k_base",
	"text-davinci-003": "p50k_base", "text-davinci-002": "p50k_base", "text-davinci-edit-001": "p50k_edit", "code-davinci-edit-001": "p50k_edit",
	"code-davinci-002": "p50k_base", "code-davinci-001": "p50k_base", "code-cushman-002": "p50k_base", "code-cushman-001": "p50k_base",
	"text-davinci-001": "r50k_base", "text-curie-001": "r50k_base", "text-babbage-001": "r50k_base", "text-ada-001": "r50k_base",
}

// EncodingOf returns the published encoding for a name: an encoding or a model of OpenAI. Fine-tuned models (ft:gpt-4o:…) use the encoding of their
// base. A name with OpenAI as its owner (openai/gpt-4o) means the model, except for openai/gpt-oss-…, which has a repository.
func EncodingOf(name string) (string, bool) {
	if _, ok := encodings()[name]; ok {
		return name, true
	}
	if rest, ok := strings.CutPrefix(name, "openai/"); ok && !strings.HasPrefix(rest, "gpt-oss") && !strings.HasPrefix(rest, "gpt2") {
		name = rest
	}
	if rest, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(rest, ":")
	}
	if e, ok := openAINames[name]; ok {
		return e, true
	}
	for stem := name; stem != ""; stem = stem[:max(strings.LastIndexByte(stem, '-'), 0)] {
		if e, ok := openAIModels[stem]; ok {
			return e, true
		}
	}
	return "", false
}
