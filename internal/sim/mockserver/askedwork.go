package mockserver

import (
	"strings"
	"sync"

	"github.com/valyala/fastjson"

	"aiperf/internal/text/tokenizer"
)

// requestedWork is the work that a request body asks for.
type requestedWork struct {
	model  string
	stream bool
	// saysStream: the body says whether the answer is to be streamed.
	saysStream bool
	// wantsStream is the value of a tensor that asks for a stream; HTTP ignores it.
	wantsStream bool
	usage       bool // stream_options.include_usage
	perChunk    bool // stream_options.continuous_usage_stats
	max, min    int  // 0 = not given
	ignoreEOS   bool
	base64      bool // encoding_format
	items       int  // number of texts to embed, passages to rank or images to analyse
	images      int  // number of images to generate
	partial     int  // number of preview images in a stream
	fixed       int  // content events of the answer, overriding the options; 0 = use the options
	text        string
	tokenCount  int    // number of token ids in the prompt
	ids         bool   // prompt and answer are token ids
	output      string // requested tensor, "" = a text
}

// promptKeys are the members with prompt texts, in the order in which the texts are joined.
var promptKeys = []string{"messages", "system", "prompt", "input", "instructions", "inputs", "text_input", "query", "passages", "documents", "texts", "text", "input_ids", "token_ids", "instances"}

// readAsk parses a body; nil = not a JSON object.
func readAsk(p *fastjson.Parser, body []byte) *requestedWork {
	v, err := p.ParseBytes(body)
	if err != nil || v.Type() != fastjson.TypeObject {
		return nil
	}
	a := &requestedWork{
		model:  string(v.GetStringBytes("model")),
		stream: v.GetBool("stream"), saysStream: v.Exists("stream"),
		usage:     v.GetBool("stream_options", "include_usage"),
		perChunk:  v.GetBool("stream_options", "continuous_usage_stats"),
		ignoreEOS: v.GetBool("ignore_eos"),
		base64:    string(v.GetStringBytes("encoding_format")) == "base64",
		min:       v.GetInt("min_tokens"),
		max:       v.GetInt("max_tokens"),
	}
	if n := v.GetInt("max_completion_tokens"); n > 0 {
		a.max = n
	}
	for _, key := range []string{"max_output_tokens", "parameters.max_new_tokens", "sampling_params.max_new_tokens", "sampling_params.max_tokens", "options.num_predict"} {
		if n := v.GetInt(strings.Split(key, ".")...); n > 0 {
			a.max = n
		}
	}
	if p := v.Get("sampling_params"); p != nil {
		a.ignoreEOS = a.ignoreEOS || p.GetBool("ignore_eos")
		a.min = max(a.min, p.GetInt("min_tokens"), p.GetInt("min_new_tokens"))
	}
	a.ids = v.Exists("input_ids") || v.Exists("token_ids")
	var texts []string
	for _, key := range promptKeys {
		value := v.Get(key)
		if value == nil {
			continue
		}
		texts = a.collect(texts, value)
		if list := value.GetArray(); key != "messages" && len(list) > 0 && list[0].Type() != fastjson.TypeNumber {
			a.items = len(list)
		}
	}
	a.items = max(a.items, 1)
	a.images, a.partial = min(max(v.GetInt("n"), 1), 100), min(max(v.GetInt("partial_images"), 0), 3)
	a.text = strings.Join(texts, " ")
	return a
}

// collect appends the texts of a prompt: strings, lists of strings, messages with content, and parts or passages with a text.
func (a *requestedWork) collect(texts []string, v *fastjson.Value) []string {
	switch v.Type() {
	case fastjson.TypeString:
		return append(texts, string(v.GetStringBytes()))
	case fastjson.TypeNumber:
		a.tokenCount++
	case fastjson.TypeArray:
		for _, e := range v.GetArray() {
			texts = a.collect(texts, e)
		}
	case fastjson.TypeObject:
		for _, name := range []string{"content", "text"} {
			if inner := v.Get(name); inner != nil {
				texts = a.collect(texts, inner)
			}
		}
	}
	return texts
}

// asksLength reports whether the request asks for a longer answer than its natural length.
func (a *requestedWork) asksLength() bool { return a.ignoreEOS || a.min > 0 }

// tokens returns the length of the answer and its finish reason.
func (a *requestedWork) tokens(natural int) (n int, finish string) {
	if a.fixed > 0 {
		return a.fixed, "stop"
	}
	n = max(natural, a.min)
	if a.max > 0 && (n >= a.max || a.ignoreEOS) {
		return a.max, "length"
	}
	return n, "stop"
}

// counter returns the tokenizer that counts the tokens of prompts. It is made when it is first needed.
var counter = sync.OnceValue(func() *tokenizer.Tokenizer {
	t, err := tokenizer.Builtin()
	if err != nil {
		return nil
	}
	return t
})

// promptTokens returns the number of tokens of the prompt.
func (a *requestedWork) promptTokens(exact bool) int {
	if exact {
		if t := counter(); t != nil {
			return a.tokenCount + t.Count(a.text)
		}
	}
	return a.tokenCount + len(strings.Fields(a.text))
}
