package weka

import (
	"slices"

	"aiperf/internal/base/jsontext"
)

// Append appends the trace as JSON. Read returns an equal trace from it. It leaves out what no request depends on (totals, times to first token).
func (t *Trace) Append(dst []byte) []byte {
	o := jsontext.Open(dst)
	o.Text("id", t.ID)
	appendModels(&o, t.models)
	o.Int("block_size", int64(t.block))
	o.Text("hash_id_scope", "local")
	appendFirst(&o, t.tool, t.system)
	o.Key("requests")
	o.B = append(o.B, '[')
	next := 0
	requests := func(before int) {
		for ; next < len(t.requests) && t.requests[next].index < before; next++ {
			o.B = append(t.requests[next].append(o.B), ',')
		}
	}
	for _, a := range t.subagents {
		requests(a.index)
		o.B = append(a.append(o.B), ',')
	}
	if len(t.requests) > 0 {
		requests(t.requests[len(t.requests)-1].index + 1)
	}
	o.B = closeList(o.B)
	return o.Close()
}

// appendModels appends the list of models.
func appendModels(o *jsontext.Object, models []string) {
	o.Key("models")
	o.B = append(o.B, '[')
	for _, m := range models {
		o.B = append(jsontext.AppendString(o.B, m), ',')
	}
	o.B = closeList(o.B)
}

// closeList closes a list and removes the last comma.
func closeList(b []byte) []byte {
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// appendFirst appends the token counts of the first message.
func appendFirst(o *jsontext.Object, tool, system int) {
	if tool > 0 {
		o.Int("tool_tokens", int64(tool))
	}
	if system > 0 {
		o.Int("system_tokens", int64(system))
	}
}

func (r *Request) append(dst []byte) []byte {
	o := jsontext.Open(dst)
	o.Float("t", r.at)
	o.Text("type", "n")
	o.Text("model", r.model)
	o.Int("in", int64(r.in))
	o.Int("out", int64(r.out))
	if r.ids != nil {
		o.Key("hash_ids")
		o.B = jsontext.AppendInts(o.B, r.ids)
	}
	switch {
	case r.toolResult:
		o.Raw("input_types", []byte(`["tool_result"]`))
	case r.typed:
		o.Raw("input_types", []byte(`["text"]`))
	}
	if r.stopped {
		o.Text("stop", "tool_use")
	}
	o.Float("api_time", r.service)
	if r.thinkTime != nil {
		o.Float("think_time", *r.thinkTime)
	}
	return o.Close()
}

func (a *subagent) append(dst []byte) []byte {
	o := jsontext.Open(dst)
	o.Float("t", a.at)
	o.Text("type", "subagent")
	o.Text("agent_id", a.id)
	o.Text("subagent_type", a.kind)
	o.Text("status", a.status)
	if a.duration != nil {
		o.Float("duration_ms", *a.duration*1000)
	}
	var models []string
	for _, q := range a.requests {
		if !slices.Contains(models, q.model) {
			models = append(models, q.model)
		}
	}
	appendModels(&o, models)
	appendFirst(&o, a.tool, a.system)
	o.Key("requests")
	o.B = append(o.B, '[')
	for _, q := range a.requests {
		o.B = append(q.append(o.B), ',')
	}
	o.B = closeList(o.B)
	return o.Close()
}
