package endpoint

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// sglangType implements SGLang's generation from token ids (endpoints, section 9.18).
var sglangType = tokenType{name: "sglang_generate", frame: frameSGLang, ignoreEOS: true, lengthKey: "max_new_tokens",
	jsonType: jsonType{input: idsInput, begin: beginTokens, member: sglangMember, after: afterTokens, newMemory: func() memoryBuilder { return tokenMemory{} }}}

func frameSGLang(b *body, _ *conversation.Turn, x *tokenBody) {
	b.setString("rid", x.id)
	b.setIDs("input_ids", x.ids)
	b.setObject("sampling_params", &x.sampling)
	if x.priority != nil {
		b.setRaw("priority", x.priority)
	}
	b.setBool("stream", b.set.Streaming)
}

// sglangMember reads the new ids of an event and the server's metadata of the answer so far.
func sglangMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	k := d.state.(*tokenDoc)
	switch string(key) {
	case "output_ids":
		k.readIDs(s)
	case "meta_info":
		if s.Kind() != '{' {
			return false
		}
		d.chunk.usage = s.Raw()
		inner := jsontext.Scanner{Doc: d.chunk.usage}
		members(&inner, func(key string) {
			switch key {
			case "completion_tokens":
				if f, ok := number(&inner); ok && f >= 0 && f < 1<<31 {
					k.reported = int(f)
				}
			case "finish_reason":
				d.chunk.finish = sglangFinish(&inner)
			default:
				inner.Skip()
			}
		})
	default:
		return false
	}
	return true
}

// sglangFinish reads the finish reason: an object with a type, a text, or null.
func sglangFinish(s *jsontext.Scanner) (why jsontext.Text) {
	if s.Kind() != '{' {
		return s.Text()
	}
	members(s, func(key string) {
		if key == "type" {
			why = s.Text()
		} else {
			s.Skip()
		}
	})
	return why
}
