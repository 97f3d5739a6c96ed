package mockserver

import "strconv"

// ids appends n token ids, joined by commas.
func (st *stream) ids(b []byte, n int) []byte {
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(st.script.rng.IntN(100_000)), 10)
	}
	return b
}

// sglangMeta returns SGLang's metadata of the answer so far.
func sglangMeta(st *stream, model string) string {
	finish := "null"
	if st.tokensLeft == 0 {
		finish = `{"type":"` + st.script.finish + `"}`
	}
	counts := ""
	if st.opts.Usage {
		counts = `,"prompt_tokens":` + strconv.Itoa(st.prompt) + `,"completion_tokens":` + strconv.Itoa(st.truth.Tokens)
	}
	return `{"text":"","meta_info":{"id":` + quoted(st.truth.RequestID) + model + counts + `,"finish_reason":` + finish + `},"output_ids":[`
}

// sglangWire is the format of SGLang's generation: new ids with every event, and counts without being asked.
var sglangWire = wire{
	counts: true, done: true, ids: true,
	content: func(st *stream) string { return "data: " + sglangMeta(st, "") }, after: `]}`,
	whole: func(st *stream, _, model string) []byte {
		st.truth.Tokens, st.tokensLeft = st.script.tokens, 0
		return append(st.ids([]byte(sglangMeta(st, `,"model":`+quoted(model))), st.script.tokens), `]}`...)
	},
}

// vllmWire is the format of vLLM's generation from token ids, without streaming.
var vllmWire = wire{
	ids: true, content: always(`data: {"choices":[{"index":0,"token_ids":[`), after: `]}]}`,
	whole: func(st *stream, id, _ string) []byte {
		st.truth.Tokens = st.script.tokens
		b := st.ids([]byte(`{"request_id":`+quoted(id)+`,"choices":[{"index":0,"token_ids":[`), st.script.tokens)
		return append(b, `],"finish_reason":"`+st.script.finish+`"}]}`...)
	},
}
