package endpoint

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// vllmType implements vLLM's generation from token ids (endpoints, section 9.19).
var vllmType = tokenType{name: "vllm_generate", frame: frameVLLM, lengthKey: "max_tokens",
	jsonType: jsonType{input: idsInput, begin: beginTokens, member: vllmMember, after: afterTokens, newMemory: func() memoryBuilder { return tokenMemory{} }}}

func frameVLLM(b *body, t *conversation.Turn, x *tokenBody) {
	b.setString("model", b.set.model(t))
	b.setIDs("token_ids", x.ids)
	b.setObject("sampling_params", &x.sampling)
	if x.priority != nil {
		b.setRaw("priority", x.priority)
	}
	b.setBool("stream", false)
	b.setString("request_id", x.id)
}

// vllmMember reads the ids of the first choice.
func vllmMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "choices" {
		return false
	}
	firstChoice(d, s, func(d *jsonAnswer, s *jsontext.Scanner, key []byte) {
		switch string(key) {
		case "token_ids":
			d.state.(*tokenDoc).readIDs(s)
		case "finish_reason":
			d.chunk.finish = s.Text()
		default:
			s.Skip()
		}
	})
	return true
}
