package endpoint

import (
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/jsontext"
)

// lengthKeys are the members of request bodies that limit the output in tokens. If several are present, the first of the list wins, as in servers.
var lengthKeys = []string{
	"max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens", // OpenAI chat, most others, OpenAI responses, Hugging Face and SGLang
	"n_predict", "num_predict", // llama.cpp, Ollama
	"maxOutputTokens", "maxTokens", "max_gen_len", "max_tokens_to_sample", // Gemini, Bedrock Converse, Llama and Claude on Bedrock
}

// lengthObjects are the members, besides the body itself, in which servers look for such a limit.
var lengthObjects = []string{"parameters", "sampling_params", "options", "generationConfig", "generation_config", "inferenceConfig"}

// RequestedTokens returns the output length in tokens that a JSON request body asks for; 0 = none.
func RequestedTokens(payload []byte) int {
	x := bodyLength{rank: len(lengthKeys)}
	s := jsontext.Scanner{Doc: payload}
	members(&s, func(key string) {
		switch {
		case slices.Contains(lengthObjects, key):
			members(&s, func(key string) { x.read(&s, key) })
		case key == "inputs":
			elements(&s, func() { x.tensor(&s) })
		default:
			x.read(&s, key)
		}
	})
	if !s.Done() {
		return 0
	}
	return x.tokens
}

// LimitsOutput reports whether extras contain an output length.
func LimitsOutput(extras []Member) bool {
	o := jsontext.Open(nil)
	for _, m := range extras {
		o.Raw(m.Key, m.Value)
	}
	return RequestedTokens(o.Close()) > 0
}

// bodyLength is the limit found so far, with the index of its key in lengthKeys.
type bodyLength struct{ tokens, rank int }

// read reads the value of a member.
func (x *bodyLength) read(s *jsontext.Scanner, key string) {
	rank := slices.Index(lengthKeys, key)
	if rank < 0 {
		s.Skip()
		return
	}
	x.take(rank, wholeNumber(s.Raw()))
}

// take stores a limit unless a key of higher rank had one.
func (x *bodyLength) take(rank, tokens int) {
	if tokens > 0 && rank <= x.rank {
		x.tokens, x.rank = tokens, rank
	}
}

// tensor reads an input of the Open Inference Protocol: {"name": "max_tokens", …, "data": [N]}.
func (x *bodyLength) tensor(s *jsontext.Scanner) {
	name, tokens := "", 0
	members(s, func(key string) {
		switch {
		case key == "name" && s.Kind() == '"':
			name = s.Text().String()
		case key == "data":
			tokens = largest(s)
		default:
			s.Skip()
		}
	})
	if rank := slices.Index(lengthKeys, name); rank >= 0 {
		x.take(rank, tokens)
	}
}

// largest returns the largest whole number of a value, including nested lists; 0 = none.
func largest(s *jsontext.Scanner) (n int) {
	if s.Kind() != '[' {
		return wholeNumber(s.Raw())
	}
	elements(s, func() { n = max(n, largest(s)) })
	return n
}

// wholeNumber returns a JSON number above 0 without a fraction; 0 for anything else.
func wholeNumber(raw []byte) int {
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v < 1 || v > math.MaxInt32 || v != math.Trunc(v) {
		return 0
	}
	return int(v)
}
