package mockserver

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/wire/openinference"
)

// wire is the format of answers in an API other than OpenAI's older ones: the text around the words of an event, the text before and after all words,
// and the complete answer without streaming.
type wire struct {
	reasons bool // supports reasoning
	counts  bool // reports token counts without being asked
	done    bool // ends its streams with [DONE]
	ids     bool // answers with token ids instead of words
	lines   bool // streams JSON lines, unless the body says that it must not

	begin              func(st *stream, id, model string) string // first events, "" = none
	content, reasoning func(st *stream) string                   // start of an event, up to its words
	after              string                                    // end of an event
	turn               string                                    // events between the reasoning and the text
	end                func(st *stream) string                   // last events, "" = none
	whole              func(st *stream, id, model string) []byte
}

// Ends of the paths that identify an API. Triton's paths contain a model name.
const (
	tritonHead   = "/v2/models/"
	tritonTail   = "/generate"
	tritonStream = "/generate_stream"
	inferTail    = "/infer"
	predictHead  = "/v1/models/"
	predictTail  = ":predict"
	vllmPath     = "/inference/v1/generate"
)

// wire returns the API of a request. SGLang and Hugging Face share a path and differ in their bodies.
func (a *requestedWork) wire(path string) (w *wire, streams bool) {
	if path == tritonTail && a.ids {
		return &sglangWire, false
	}
	return wireOf(path)
}

// wireOf returns the API of a path, and whether the path alone requests a stream; nil = another API.
func wireOf(path string) (w *wire, streams bool) {
	switch path {
	case "/v1/messages":
		return &messagesWire, false
	case "/v1/responses":
		return &responsesWire, false
	case tritonTail, tritonStream:
		return &huggingFaceWire, path == tritonStream
	case vllmPath:
		return &vllmWire, false
	case "/rag/api/prompt":
		return &solidoWire, false
	case "/":
		return &freeWire, false
	case ollamaChatPath:
		return &ollamaChatWire, false
	case ollamaGeneratePath:
		return &ollamaGenerateWire, false
	}
	if strings.HasPrefix(path, predictHead) && strings.HasSuffix(path, predictTail) {
		return &predictWire, false
	}
	if strings.HasPrefix(path, tritonHead) {
		if strings.HasSuffix(path, tritonStream) {
			return &tritonWire, true
		}
		if strings.HasSuffix(path, tritonTail) {
			return &tritonWire, false
		}
		if strings.HasSuffix(path, inferTail) {
			return &inferWire, false
		}
	}
	return nil, false
}

// events joins events; the writer adds the end of the last one.
func events(list ...string) string { return strings.Join(list, "\n\n") }

// always returns a function that returns a constant.
func always(s string) func(*stream) string { return func(*stream) string { return s } }

// wholeBody returns a JSON object around the words of a complete answer.
func (st *stream) wholeBody(head, tail string) []byte {
	b := st.text([]byte(head), st.script.tokens, &st.truth.Tokens)
	return append(b, tail...)
}

// quoted returns a JSON string.
func quoted(s string) string { return string(jsontext.AppendString(nil, s)) }

// counted returns the token counts with the names that APIs other than OpenAI's older ones use; "" if the server reports none.
func (st *stream) counted(member string, input bool) string {
	if !st.opts.Usage {
		return ""
	}
	out := `,"` + member + `":{`
	if input {
		out += `"input_tokens":` + strconv.Itoa(st.prompt) + `,`
	}
	return out + `"output_tokens":` + strconv.Itoa(st.truth.Tokens+st.truth.Reasoning)
}

// messagesWire is the format of Anthropic's messages: named events, one block for thinking and one for text.
var messagesWire = wire{
	reasons: true, counts: true,
	begin: func(st *stream, id, model string) string {
		usage := ""
		if st.opts.Usage {
			usage = `,"usage":{"input_tokens":` + strconv.Itoa(st.prompt) + `,"output_tokens":1}`
		}
		kind := `{"type":"text","text":""}`
		if st.script.reasoning > 0 {
			kind = `{"type":"thinking","thinking":""}`
		}
		return events("event: message_start\ndata: "+`{"type":"message_start","message":{"id":`+quoted(id)+`,"type":"message","role":"assistant","content":[],"model":`+quoted(model)+usage+`}}`,
			"event: content_block_start\ndata: "+`{"type":"content_block_start","index":0,"content_block":`+kind+`}`, "event: ping\ndata: "+`{"type":"ping"}`)
	},
	reasoning: always("event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"`),
	content: func(st *stream) string {
		if st.script.reasoning > 0 {
			return "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"`
		}
		return "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`
	},
	after: `"}}`,
	turn: events("event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
		"event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":0}`,
		"event: content_block_start\ndata: "+`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`),
	end: func(st *stream) string {
		usage := st.counted("usage", false)
		if usage != "" {
			usage += "}"
		}
		return events("event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":0}`,
			"event: message_delta\ndata: "+`{"type":"message_delta","delta":{"stop_reason":"`+stopReason(st)+`"}`+usage+`}`,
			"event: message_stop\ndata: "+`{"type":"message_stop"}`)
	},
	whole: func(st *stream, id, model string) []byte {
		b := []byte(`{"id":` + quoted(id) + `,"type":"message","role":"assistant","model":` + quoted(model) + `,"content":[`)
		if st.script.reasoning > 0 {
			b = st.text(append(b, `{"type":"thinking","thinking":`...), st.script.reasoning, &st.truth.Reasoning)
			b = append(b, `,"signature":"c2ln"}`...)
		}
		if st.script.tokens > 0 {
			if st.script.reasoning > 0 {
				b = append(b, ',')
			}
			b = append(st.text(append(b, `{"type":"text","text":`...), st.script.tokens, &st.truth.Tokens), '}')
		}
		b = append(b, `],"stop_reason":"`+stopReason(st)+`"`...)
		if st.opts.Usage {
			b = append(b, st.counted("usage", true)+"}"...)
		}
		return append(b, '}')
	},
}

// stopReason returns the reason for the end of the answer, with Anthropic's names.
func stopReason(st *stream) string {
	if st.script.finish == "length" {
		return "max_tokens"
	}
	return "end_turn"
}

// responsesWire is the format of OpenAI's responses.
var responsesWire = wire{
	reasons: true, counts: true,
	begin: func(st *stream, id, model string) string {
		return "event: response.created\ndata: " + `{"type":"response.created","response":{"id":` + quoted(id) + `,"object":"response","status":"in_progress","model":` + quoted(model) + `}}`
	},
	reasoning: always("event: response.reasoning_text.delta\ndata: " + `{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"`),
	content:   always("event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"`),
	after:     `"}`,
	end: func(st *stream) string {
		return "event: response.completed\ndata: " + `{"type":"response.completed","response":{"object":"response","status":"completed"` + responsesUsage(st) + `}}`
	},
	whole: func(st *stream, id, model string) []byte {
		b := []byte(`{"id":` + quoted(id) + `,"object":"response","status":"completed","model":` + quoted(model) + `,"output":[`)
		if st.script.reasoning > 0 {
			b = st.text(append(b, `{"type":"reasoning","id":"rs","summary":[],"content":[{"type":"reasoning_text","text":`...), st.script.reasoning, &st.truth.Reasoning)
			b = append(b, `}]},`...)
		}
		b = st.text(append(b, `{"type":"message","id":"msg","role":"assistant","content":[{"type":"output_text","text":`...), st.script.tokens, &st.truth.Tokens)
		return append(b, `}]}]`+responsesUsage(st)+`}`...)
	},
}

func responsesUsage(st *stream) string {
	if !st.opts.Usage {
		return ""
	}
	return st.counted("usage", true) + `,"output_tokens_details":{"reasoning_tokens":` + strconv.Itoa(st.truth.Reasoning) + `},"total_tokens":` +
		strconv.Itoa(st.prompt+st.truth.Tokens+st.truth.Reasoning) + `}`
}

// huggingFaceWire is the format of Hugging Face's text generation: no space after the colon, and a last event that contains the end mark and repeats
// the text.
var huggingFaceWire = wire{
	content: always(`data:{"index":1,"token":{"id":3,"text":"`), after: `","logprob":-1.0,"special":false},"generated_text":null,"details":null}`,
	end: func(st *stream) string {
		return `data:{"index":1,"token":{"id":2,"text":"</s>","logprob":-1.0,"special":true},"generated_text":" and all of it again","details":{"finish_reason":"` +
			st.script.finish + `","generated_tokens":` + strconv.Itoa(st.truth.Tokens) + `}}`
	},
	whole: func(st *stream, _, _ string) []byte { return st.wholeBody(`[{"generated_text":`, `}]`) },
}

// tritonWire is the format of Triton's generate extension.
var tritonWire = wire{
	content: always(`data: {"model_name":"mock","model_version":"1","text_output":"`), after: `"}`,
	whole: func(st *stream, _, model string) []byte {
		return st.wholeBody(`{"model_name":`+quoted(model)+`,"model_version":"1","text_output":`, `}`)
	},
}

// inferWire is the format of the Open Inference Protocol over HTTP.
var inferWire = wire{
	content: always(""),
	whole: func(st *stream, id, model string) []byte {
		head := `{"model_name":` + quoted(model) + `,"model_version":"1","id":` + quoted(id) + `,"outputs":[`
		if st.ask.output == "" {
			return st.wholeBody(head+`{"name":"text_output","datatype":"BYTES","shape":[1,1],"data":[`, `]}]}`)
		}
		r := &openinference.InferResponse{Outputs: []*openinference.Tensor{st.opts.tensor(st.ask, &st.script)}}
		b, err := openinference.AppendResponse(nil, r)
		if err != nil {
			return []byte(`{"error":` + quoted(err.Error()) + `}`)
		}
		return b
	},
}

// predictWire is the format of the first version of KServe's protocol.
var predictWire = wire{
	content: always(""),
	whole:   func(st *stream, _, _ string) []byte { return st.wholeBody(`{"predictions":[{"output":`, `}]}`) },
}

// solidoWire answers prompts without streaming.
var solidoWire = wire{
	content: always(`data: {"content":"`), after: `"}`,
	whole: func(st *stream, _, _ string) []byte { return st.wholeBody(`{"content":`, `,"sources":[]}`) },
}

// freeWire answers at the root path of the server, which accepts bodies in any format.
var freeWire = wire{
	done: true, content: always(`data: {"text":"`), after: `"}`,
	whole: func(st *stream, _, _ string) []byte { return st.wholeBody(`{"text":`, `}`) },
}
