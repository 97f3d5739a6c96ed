package weka

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"time"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/jsontext"
)

// Unfit is why a trace cannot be written as rounds of TraceLab.
type Unfit struct{ Where, Field, Why string }

// Error implements error: "path:line: field: why".
func (u *Unfit) Error() string { return u.Where + ": " + u.Field + ": " + u.Why }

// RoundWriter writes traces as rounds of TraceLab. A round tells only how much of its prompt the round before it had, and an agent that another started is
// found by the call of a tool that it lies within: what that cannot say is refused. Each trace is read again before it is handed out.
type RoundWriter struct {
	seed maphash.Seed
	seen map[uint64]struct{} // ids of sessions, hashed
}

// NewRoundWriter returns a writer of a file.
func NewRoundWriter() *RoundWriter {
	return &RoundWriter{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// roundsBegin is the instant from which times are written: those of a trace count from its first request.
var roundsBegin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// leastCall is the shortest call, ms, that is taken for the start of an agent unless AIPERF_DATASET_TRACELAB_MIN_SPAWN_MS says otherwise.
const leastCall = 10_000

// Append appends the rounds of a trace, a row each. The error is an *Unfit.
func (w *RoundWriter) Append(dst []byte, t *Trace) ([]byte, error) {
	o := &roundsOf{trace: t, minted: map[int64]int64{}}
	same, why := o.plain(w)
	if why != nil {
		return dst, why
	}
	text := o.append(nil, same)
	if !o.isRead(text, same) {
		return dst, &Unfit{t.where, "requests", "read again as rounds of tracelab, its agents would not be told apart as they are here"}
	}
	return append(dst, text...), nil
}

// fresh tells whether an id of a session is new, and takes it.
func (w *RoundWriter) fresh(id string) bool {
	key := maphash.String(w.seed, id)
	_, again := w.seen[key]
	w.seen[key] = struct{}{}
	return !again
}

// roundsOf are the rounds of one trace.
type roundsOf struct {
	trace  *Trace
	minted map[int64]int64 // number of every id so far
}

// plain is the trace as rounds tell it: ids by number, times to a microsecond, no kinds of agents. An error = there is more to it.
func (o *roundsOf) plain(w *RoundWriter) (*Trace, error) {
	t := o.trace
	switch {
	case len(t.requests) == 0:
		return nil, &Unfit{t.where, "requests", "the main agent has none that can be sent"}
	case t.tool > 0:
		return nil, &Unfit{t.where, "tool_tokens", "tracelab does not tell how long the first message is"}
	case t.system > 0:
		return nil, &Unfit{t.where, "system_tokens", "tracelab does not tell how long the first message is"}
	case t.ID == "" || safeID(t.ID) != t.ID:
		return nil, &Unfit{t.where, "id", fmt.Sprintf("%.40q: sessions of tracelab have ids of letters, digits, points, _ and -, at most 150", t.ID)}
	case t.requests[0].at != 0:
		return nil, &Unfit{t.requests[0].where, "t", fmt.Sprintf("%v: times of tracelab count from the first request", t.requests[0].at)}
	case !w.fresh(t.ID):
		return nil, &Unfit{t.where, "id", fmt.Sprintf("%q is the id of an agent before it", t.ID)}
	}
	same := &Trace{ID: t.ID, block: t.block}
	var why error
	if same.requests, why = o.requests(t.requests); why != nil {
		return nil, why
	}
	var agents []*subagent // those that have requests
	for _, a := range t.subagents {
		if len(a.requests) == 0 {
			continue
		}
		one, why := o.agent(a)
		if why != nil {
			return nil, why
		}
		if id := one.id; !w.fresh(id) {
			one.id = t.ID + "." + id
			for n := 2; !w.fresh(one.id); n++ {
				one.id = fmt.Sprintf("%s.%s.%d", t.ID, id, n)
			}
		}
		same.subagents, agents = append(same.subagents, one), append(agents, a)
	}
	for i, before := range same.place() {
		if a := agents[i]; before != beforeIndex(t.requests, a.index) {
			return nil, &Unfit{a.where, "t", fmt.Sprintf("%v: tracelab lets the last request before it start an agent, here it stands behind another one", a.at)}
		}
	}
	(&parser{}).order(same)
	return same, nil
}

// place gives what stands in the list of the trace its places there: an agent stands behind the last request that was sent when it began. It returns how
// many requests stand before each agent.
func (t *Trace) place() (before []int) {
	for _, a := range t.subagents {
		n := 0
		for n < len(t.requests) && t.requests[n].at <= a.at {
			n++
		}
		a.index, before = n-1, append(before, n)
	}
	t.number()
	return before
}

// beforeIndex is how many requests stand before a place of the list.
func beforeIndex(list []*Request, index int) (n int) {
	for _, q := range list {
		if q.index < index {
			n++
		}
	}
	return n
}

// requests are those of an agent, by time, as rounds.
func (o *roundsOf) requests(list []*Request) ([]*Request, error) {
	block := o.trace.block
	same := make([]*Request, len(list))
	var before []int64
	end := 0.0
	for i, q := range list {
		whole := q.in / block
		switch {
		case i > 0 && q.at < list[i-1].at:
			return nil, &Unfit{q.where, "t", fmt.Sprintf("%v comes behind %v: rounds of tracelab are in the order of their times", q.at, list[i-1].at)}
		case len(q.ids) < whole:
			return nil, &Unfit{q.where, "hash_ids", fmt.Sprintf("%d ids for %d blocks of %d tokens: every block of tracelab has one", len(q.ids), whole, block)}
		case q.model == "":
			return nil, &Unfit{q.where, "model", "missing"}
		}
		n := &Request{index: i, at: micro(q.at), model: q.model, in: q.in, out: q.out, typed: true, stopped: q.stopped, service: micro(q.service)}
		n.toolResult = q.answersTool(previous(list, i))
		keep := 0
		for keep < min(len(before), whole) && before[keep] == o.minted[q.ids[keep]] {
			keep++
		}
		n.ids = slices.Clone(before[:keep])
		for _, id := range q.ids[keep:whole] {
			if o.minted[id] != 0 {
				return nil, &Unfit{q.where, "hash_ids", fmt.Sprintf("%d stands elsewhere too: a round of tracelab shares its beginning with the round before it, and nothing else", id)}
			}
			o.minted[id] = int64(len(o.minted) + 1)
			n.ids = append(n.ids, o.minted[id])
		}
		if i > 0 {
			think := max(0, n.at-end)
			n.think = &think
		}
		end, before = n.end(), n.ids
		same[i] = n
	}
	return same, nil
}

func previous(list []*Request, i int) *Request {
	if i == 0 {
		return nil
	}
	return list[i-1]
}

// agent is an agent that the main one started, with the call that it lies within.
func (o *roundsOf) agent(a *subagent) (*subagent, error) {
	switch {
	case a.tool > 0 || a.system > 0:
		return nil, &Unfit{a.where, "tool_tokens, system_tokens", "tracelab does not tell how long the first message is"}
	case a.id == "" || safeID(a.id) != a.id:
		return nil, &Unfit{a.where, "agent_id", fmt.Sprintf("%.40q: sessions of tracelab have ids of letters, digits, points, _ and -, at most 150", a.id)}
	}
	duration := micro(a.end() - a.at)
	if duration*1000 < leastCall {
		return nil, &Unfit{a.where, "duration_ms", fmt.Sprintf("%v: tracelab takes a call for the start of an agent from %d ms on", duration*1000, leastCall)}
	}
	for _, q := range a.requests {
		if q.at < a.at || q.end() > a.end()+epsilon {
			return nil, &Unfit{q.where, "t", "lies outside of t and duration_ms of its agent: tracelab finds an agent by the call that it lies within"}
		}
	}
	list, why := o.requests(a.requests)
	return &subagent{at: micro(a.at), id: a.id, duration: &duration, kind: "Agent", status: "completed", requests: list}, why
}

// append appends the rounds.
func (o *roundsOf) append(dst []byte, t *Trace) []byte {
	calls := map[int][]*subagent{}
	for _, a := range t.subagents {
		at := beforeIndex(t.requests, a.index) - 1
		calls[at] = append(calls[at], a)
	}
	write := func(list []*Request, session string, calls map[int][]*subagent) {
		var before []int64
		for i, q := range list {
			dst = q.appendRound(dst, t, session, i, shared(before, q.ids), calls[i])
			before = q.ids
		}
	}
	write(t.requests, t.ID, calls)
	for _, a := range t.subagents {
		write(a.requests, a.id, nil)
	}
	return dst
}

// appendRound appends a request of a session as a round, which had so many blocks of the round before, with the calls that it made.
func (r *Request) appendRound(dst []byte, t *Trace, session string, number, had int, calls []*subagent) []byte {
	asked, answered := "user_message", "text"
	if r.toolResult {
		asked = "tool_result"
	}
	if r.stopped {
		answered = "tool_call"
	}
	o := jsontext.Open(dst)
	o.Text("session_id", session)
	o.Text("user", "user")
	o.Text("project", t.ID) // agents are looked for among the sessions of one project
	o.Int("round_index", int64(number))
	o.Text("model", r.model)
	o.Int("input_tokens_total", int64(r.in))
	prefix := int64(had * t.block)
	o.Int("prefix_tokens", prefix)
	o.Int("newly_append_tokens", int64(r.in)-prefix)
	o.Int("output_tokens", int64(r.out))
	o.Text("first_input_event_type", asked)
	o.Key("timing_events")
	o.B = append(o.B, '[')
	for _, e := range []struct {
		kind string
		at   float64
	}{{asked, r.at}, {answered, r.end()}} {
		event := jsontext.Open(o.B)
		event.Text("event_type", e.kind)
		event.Text("timestamp", written(e.at))
		o.B = append(event.Close(), ',')
	}
	o.B = closeList(o.B)
	o.Key("tools")
	o.B = append(o.B, '[')
	for _, a := range calls {
		call := jsontext.Open(o.B)
		call.Text("tool_name", a.kind)
		call.Text("emitted_at", written(a.at))
		call.Text("result_at", written(a.at+*a.duration))
		call.Float("tool_wall_latency_ms", *a.duration*1000)
		o.B = append(call.Close(), ',')
	}
	o.B = closeList(o.B)
	return append(o.Close(), '\n')
}

// written is an instant, s after the beginning, as a recording has it.
func written(s float64) string {
	return roundsBegin.Add(time.Duration(micro(s)*1e6+0.5) * time.Microsecond).Format("2006-01-02T15:04:05.000000Z")
}

// isRead tells whether rounds are read as the trace that they were written of.
func (o *roundsOf) isRead(text []byte, want *Trace) bool {
	var faults dataset.Faults
	again := NewRounds(&faults)
	for line := range strings.Lines(string(text)) {
		if r := rows.Parse("", []byte(line), &faults); r != nil {
			again.Add(r)
		}
	}
	var got []*Trace
	_, _, err := again.Traces(Join{Agents: true, Codex: true, Least: leastCall}, want.block, func(t *Trace, _ string) bool { got = append(got, t); return false })
	if err != nil || faults.Count() > 0 || len(got) != 1 {
		return false
	}
	return reflect.DeepEqual(got[0].rounded(), want.rounded())
}

// rounded rounds what was reckoned to a microsecond.
func (t *Trace) rounded() *Trace {
	round := func(list []*Request) {
		for _, q := range list {
			if q.think != nil {
				*q.think = micro(*q.think)
			}
			if len(q.ids) == 0 {
				q.ids = nil
			}
		}
	}
	round(t.requests)
	for _, a := range t.subagents {
		*a.duration = micro(*a.duration)
		round(a.requests)
	}
	return t
}
