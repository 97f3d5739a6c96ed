// Package weka reads recorded traffic of coding agents in the schema of Weka's cache tester: a trace is what the agents of one session asked
// of their models, with the hash ids of the blocks of every prompt (datasets.md, section 5.11, of the contract). It tells agents apart that
// the recording put into one list, and says of which messages each request consists; the texts are made by whoever asks for them.
package weka

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/dataset/rows"
)

// Request is one recorded call of a model.
type Request struct {
	index      int // in the list that it was recorded in
	at         float64
	model      string
	in, out    int     // tokens
	ids        []int64 // hash ids of the blocks of the prompt, from its start
	typed      bool    // the types of its input are recorded:
	toolResult bool    // they say that what is new in the prompt is the answer of a tool
	stopped    bool    // the model stopped for a tool
	service    float64 // s that the server took, 0 = not recorded
	think      *float64
	where      string
}

// end is when the answer was there, s.
func (r *Request) end() float64 { return r.at + r.service }

// subagent is an agent that the main one started, with a list of its own.
type subagent struct {
	index        int // in the list of the trace
	at           float64
	id           string
	kind, status string   // as recorded
	duration     *float64 // s
	requests     []*Request
	tool, system int // tokens of the first message
	where        string
}

// end is when it was over, s.
func (a *subagent) end() float64 {
	if a.duration != nil {
		return a.at + max(0, *a.duration)
	}
	end := a.at
	for i, r := range a.requests {
		if i == 0 || r.end() > end {
			end = r.end()
		}
	}
	return end
}

// Trace is one recorded session.
type Trace struct {
	ID           string
	where        string
	block        int // tokens of a hash id
	tool, system int // tokens of the first message
	requests     []*Request
	subagents    []*subagent
	models       []string // in the order of their first use, the main agent's in front
	empty        int      // requests without a token of input, which cannot be sent
}

// The keys of a trace and of what stands in its list; others are faults.
var (
	traceKeys    = []string{"id", "models", "block_size", "hash_id_scope", "tool_tokens", "system_tokens", "requests", "totals", "type"}
	requestKeys  = []string{"t", "type", "model", "in", "out", "hash_ids", "input_types", "output_types", "stop", "api_time", "think_time"}
	streamedKeys = append(slices.Clone(requestKeys), "ttft")
	subagentKeys = []string{
		"t", "type", "agent_id", "subagent_type", "duration_ms", "total_tokens", "tool_use_count", "status", "requests", "models", "tool_tokens", "system_tokens",
	}
)

// Read reads a trace. What is wrong is noted as faults of the row; nil = it has some.
func Read(r *rows.Row) *Trace {
	p, before := &parser{}, r.Faults()
	known(r, traceKeys)
	t := &Trace{where: r.Where}
	t.ID = p.text(r, "id")
	p.list(r, "models")
	t.block = p.count(r, "block_size", 1)
	if scope := p.text(r, "hash_id_scope"); scope != "" && scope != "local" {
		r.Fault("hash_id_scope", "must be \"local\": ids that traces share are not known, got %q", scope)
	}
	t.tool, t.system = p.optional(r, "tool_tokens"), p.optional(r, "system_tokens")
	for i, raw := range p.list(r, "requests") {
		if item := r.Item("requests", i, raw); item != nil {
			p.entry(t, item, i)
		}
	}
	if r.Faults() > before {
		return nil
	}
	p.order(t)
	t.empty = p.empty
	return t
}

// parser reads the parts of a trace.
type parser struct {
	empty int // requests that cannot be sent, because their input has no token
}

// known notes keys that the schema does not have.
func known(r *rows.Row, keys []string) {
	for _, key := range r.Keys() {
		if !slices.Contains(keys, key) {
			r.Fault(key, "unknown key; allowed are %s", strings.Join(keys, ", "))
		}
	}
}

// need notes a field that is missing.
func (p *parser) need(r *rows.Row, field string) bool {
	if !r.Has(field) {
		r.Fault(field, "missing")
		return false
	}
	return true
}

func (p *parser) text(r *rows.Row, field string) string {
	if p.need(r, field) {
		if s := r.String(field); s != nil {
			return *s
		}
	}
	return ""
}

func (p *parser) count(r *rows.Row, field string, low int) int {
	if p.need(r, field) {
		if n := r.Int(field, low); n != nil {
			return *n
		}
	}
	return 0
}

func (p *parser) optional(r *rows.Row, field string) int {
	if !r.Has(field) {
		return 0
	}
	return p.count(r, field, 0)
}

func (p *parser) list(r *rows.Row, field string) (items []json.RawMessage) {
	if p.need(r, field) {
		items = r.List(field)
	}
	return items
}

// seconds is a number that may be absent; what is below 0 counts as 0.
func (p *parser) seconds(r *rows.Row, field string) *float64 {
	if !r.Has(field) {
		return nil
	}
	s := r.Number(field)
	if s == nil {
		return nil
	}
	*s = max(0, *s)
	return s
}

// entry reads one entry of the trace's list.
func (p *parser) entry(t *Trace, r *rows.Row, index int) {
	switch kind := r.String("type"); {
	case kind == nil:
		p.need(r, "type")
	case *kind == "subagent":
		t.subagents = append(t.subagents, p.subagent(r, index))
	case *kind == "n" || *kind == "s":
		t.requests = p.request(t.requests, r, *kind, index, place("", index))
	default:
		r.Fault("type", "must be n, s or subagent, got %q", *kind)
	}
}

// place is the place of an item of a list of requests.
func place(within string, index int) string { return within + "requests[" + strconv.Itoa(index) + "]" }

// request reads a call and appends it, unless it cannot be sent. at is its place in the row.
func (p *parser) request(to []*Request, r *rows.Row, kind string, index int, at string) []*Request {
	keys := requestKeys
	if kind == "s" {
		keys = streamedKeys
	}
	known(r, keys)
	q := &Request{index: index, where: r.Where + ": " + at, model: p.text(r, "model"), in: p.count(r, "in", 0), out: p.count(r, "out", 0)}
	if p.need(r, "t") {
		if t := r.Number("t"); t != nil {
			q.at = *t
		}
	}
	q.ids = r.Ints("hash_ids")
	if s := p.seconds(r, "api_time"); s != nil {
		q.service = *s
	}
	q.think = p.seconds(r, "think_time")
	types := r.Strings("input_types")
	q.typed, q.toolResult = len(types) > 0, slices.Contains(types, "tool_result")
	if stop := r.String("stop"); stop != nil {
		q.stopped = *stop == "tool_use"
	}
	if q.in > math.MaxInt32/2 {
		r.Fault("in", "must be at most %d tokens, got %d", math.MaxInt32/2, q.in)
	}
	if q.in == 0 {
		p.empty++
		return to
	}
	return append(to, q)
}

// answersTool tells whether the new part of a prompt is the answer of a tool: as the types of its input say, else as the model stopped before it.
func (r *Request) answersTool(before *Request) bool {
	if r.typed {
		return r.toolResult
	}
	return before != nil && before.stopped
}

// subagent reads an agent with a list of its own. Its times may count from its own start, as old recordings have them.
func (p *parser) subagent(r *rows.Row, index int) *subagent {
	known(r, subagentKeys)
	a := &subagent{index: index, where: r.Where + ": " + place("", index), id: p.text(r, "agent_id"), tool: p.optional(r, "tool_tokens"), system: p.optional(r, "system_tokens")}
	a.kind, a.status = p.text(r, "subagent_type"), p.text(r, "status")
	p.list(r, "models")
	if p.need(r, "t") {
		if at := r.Number("t"); at != nil {
			a.at = *at
		}
	}
	if ms := p.seconds(r, "duration_ms"); ms != nil {
		*ms /= 1000
		a.duration = ms
	}
	for i, raw := range p.list(r, "requests") {
		item := r.Item("requests", i, raw)
		if item == nil {
			continue
		}
		kind := item.String("type")
		if kind == nil || *kind != "n" && *kind != "s" {
			item.Fault("type", "must be n or s")
			continue
		}
		a.requests = p.request(a.requests, item, *kind, i, place(place("", index)+".", i))
	}
	for _, q := range a.requests {
		if q.at+epsilon < a.at {
			q.at += a.at
		}
	}
	return a
}

// order lists the models by their first use.
func (p *parser) order(t *Trace) {
	use := func(list []*Request) {
		for _, q := range list {
			if !slices.Contains(t.models, q.model) {
				t.models = append(t.models, q.model)
			}
		}
	}
	if len(t.requests) > 0 {
		use(t.requests[:1])
	}
	next := 0
	for _, a := range t.subagents {
		for ; next < len(t.requests) && t.requests[next].index < a.index; next++ {
			use(t.requests[next : next+1])
		}
		use(a.requests)
	}
	use(t.requests[next:])
}

// Peak is the most tokens that a request of the trace and its answer have, where answers are cut to maxOut (0 = they are not).
func (t *Trace) Peak(maxOut int) int {
	peak := 0
	look := func(list []*Request) {
		for _, q := range list {
			peak = max(peak, q.in+outputLength(q.out, maxOut))
		}
	}
	look(t.requests)
	for _, a := range t.subagents {
		look(a.requests)
	}
	return peak
}

// Empty is the number of recorded requests that cannot be sent, because their input has no token.
func (t *Trace) Empty() int { return t.empty }

// outputLength is the length that is asked for: at least 1 token, at most limit (0 = no limit).
func outputLength(out, limit int) int {
	if limit > 0 {
		out = min(out, limit)
	}
	return max(1, out)
}
