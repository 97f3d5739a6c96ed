package mockserver

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"

	"aiperf/internal/base/jsontext"
)

// simulated returns the body of an answer that reports a failure.
func simulated(status int) string {
	return `{"error":{"message":"simulated failure","type":"server_error","code":` + strconv.Itoa(status) + `}}`
}

// appendUsage appends the token counts of an answer. cached is the number of prompt tokens from the prefix cache, -1 = not reported.
func appendUsage(b []byte, prompt, cached, tokens, reasoning int) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(tokens+reasoning), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt+tokens+reasoning), 10)
	if cached >= 0 {
		b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
		b = strconv.AppendInt(b, int64(cached), 10)
		b = append(b, '}')
	}
	if reasoning > 0 {
		b = append(b, `,"completion_tokens_details":{"reasoning_tokens":`...)
		b = strconv.AppendInt(b, int64(reasoning), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// generated returns the body of a text answer that is not streamed.
func (st *stream) generated(id string, created int64, model string) []byte {
	b := append([]byte(`{"id":"`), id...)
	b = append(b, `","object":"`...)
	b = append(b, st.shape.object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, created, 10)
	b = append(b, `,"model":`...)
	b = jsontext.AppendString(b, model)
	b = append(b, `,"choices":[{"index":0,`...)
	if st.shape.reasons {
		b = append(b, `"message":{"role":"assistant","content":`...)
		b = st.text(b, st.script.tokens, &st.truth.Tokens)
		if st.script.reasoning > 0 {
			b = append(b, `,"`+st.opts.ReasoningField+`":`...)
			b = st.text(b, st.script.reasoning, &st.truth.Reasoning)
		}
		b = append(b, '}')
	} else {
		b = append(b, `"text":`...)
		b = st.text(b, st.script.tokens, &st.truth.Tokens)
	}
	b = append(b, `,"logprobs":null,"finish_reason":"`...)
	b = append(b, st.script.finish...)
	b = append(b, `"}]`...)
	if st.opts.Usage {
		b = append(b, `,"usage":`...)
		b = appendUsage(b, st.prompt, st.cached, st.truth.Tokens, st.truth.Reasoning)
	}
	return append(b, '}')
}

// text appends n words as a string; n = 0 appends null.
func (st *stream) text(b []byte, n int, sum *int) []byte {
	if n == 0 {
		return append(b, "null"...)
	}
	b = append(b, '"')
	for range n {
		b = append(b, st.script.word()...)
	}
	*sum += n
	return append(b, '"')
}

// embeddings returns a body with one vector for each input.
func (st *stream) embeddings(model string) []byte {
	b := []byte(`{"object":"list","data":[`)
	vector := make([]float32, st.opts.Dimensions)
	for i := range st.ask.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"object":"embedding","index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"embedding":`...)
		for j := range vector {
			vector[j] = float32(2*st.script.rng.Float64() - 1)
		}
		b = appendVector(b, vector, st.ask.base64)
		b = append(b, '}')
	}
	b = append(b, `],"model":`...)
	b = jsontext.AppendString(b, model)
	if st.opts.Usage {
		b = append(b, `,"usage":{"prompt_tokens":`...)
		b = strconv.AppendInt(b, int64(st.prompt), 10)
		b = append(b, `,"total_tokens":`...)
		b = strconv.AppendInt(b, int64(st.prompt), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendVector(b []byte, v []float32, packed bool) []byte {
	if packed {
		raw := make([]byte, 0, 4*len(v))
		for _, f := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, raw)
		return append(b, '"')
	}
	b = append(b, '[')
	for i, f := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(f), 'g', -1, 32)
	}
	return append(b, ']')
}

// ranking is the format of a list of scores in an API.
type ranking struct{ open, item, close string }

var rankings = map[string]ranking{
	"/v1/ranking": {`{"rankings":[`, `{"index":%,"logit":`, `]}`},
	"/v2/rerank":  {`{"id":"mock","results":[`, `{"index":%,"relevance_score":`, `]}`},
	"/rerank":     {`[`, `{"index":%,"score":`, `]`},
}

// scores returns a body with one score for each passage.
func (st *stream) scores(r ranking) []byte {
	b := []byte(r.open)
	for i := range st.ask.items {
		if i > 0 {
			b = append(b, ',')
		}
		for _, c := range []byte(r.item) {
			if c == '%' {
				b = strconv.AppendInt(b, int64(i), 10)
			} else {
				b = append(b, c)
			}
		}
		b = strconv.AppendFloat(b, st.script.rng.Float64(), 'g', 6, 64)
		b = append(b, '}')
	}
	return append(b, r.close...)
}
