package weka

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// UnfitTrace is the error that a trace cannot be written as TraceLab rounds.
type UnfitTrace struct{ Where, Field, Why string }

// Error implements error: "path:line: field: why".
func (u *UnfitTrace) Error() string { return u.Where + ": " + u.Field + ": " + u.Why }

// RoundWriter writes traces as TraceLab rounds. A round only states how much of its prompt it shares with the previous round, and a started agent is
// found by the tool call that contains it. A trace that does not fit this is rejected. Each written trace is read again for verification.
type RoundWriter struct {
	seed maphash.Seed
	seen map[uint64]struct{} // hashes of the session ids
}

// NewRoundWriter returns a writer for one file.
func NewRoundWriter() *RoundWriter {
	return &RoundWriter{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// roundsBegin is the start of all written times. Times of a trace count from its first request.
var roundsBegin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// minCall is the minimum length of a call that starts an agent, in ms. It is the default of AIPERF_DATASET_TRACELAB_MIN_SPAWN_MS.
const minCall = 10_000

// Append appends the rounds of a trace, one per row. The error is an *UnfitTrace.
func (w *RoundWriter) Append(dst []byte, t *Trace) ([]byte, error) {
	o := &traceRounds{trace: t, newIDs: map[int64]int64{}}
	same, why := o.plain(w)
	if why != nil {
		return dst, why
	}
	text := o.append(nil, same)
	if !o.isRead(text, same) {
		return dst, &UnfitTrace{t.where, "requests", "tracelab cannot hold the agents of this trace: read back, they would be different"}
	}
	return append(dst, text...), nil
}

// fresh reports whether a session id is new, and records it.
func (w *RoundWriter) fresh(id string) bool {
	key := maphash.String(w.seed, id)
	_, again := w.seen[key]
	w.seen[key] = struct{}{}
	return !again
}

// traceRounds holds the rounds of one trace.
type traceRounds struct {
	trace  *Trace
	newIDs map[int64]int64 // new number of every id so far
}

// plain returns the trace as it will be read from rounds: ids renumbered, times in µs, no kinds of agents. It returns an error if rounds cannot hold
// the trace.
func (o *traceRounds) plain(w *RoundWriter) (*Trace, error) {
	t := o.trace
	switch {
	case len(t.requests) == 0:
		return nil, &UnfitTrace{t.where, "requests", "the main agent has no request that can be sent"}
	case t.tool > 0:
		return nil, &UnfitTrace{t.where, "tool_tokens", "tracelab cannot hold the length of the first message"}
	case t.system > 0:
		return nil, &UnfitTrace{t.where, "system_tokens", "tracelab cannot hold the length of the first message"}
	case t.ID == "" || safeID(t.ID) != t.ID:
		return nil, &UnfitTrace{t.where, "id", fmt.Sprintf("%.40q: tracelab allows only letters, digits, dots, _ and - in session ids, at most 150 of them", t.ID)}
	case t.requests[0].at != 0:
		return nil, &UnfitTrace{t.requests[0].where, "t", fmt.Sprintf("%v: in tracelab, times count from the first request", t.requests[0].at)}
	case !w.fresh(t.ID):
		return nil, &UnfitTrace{t.where, "id", fmt.Sprintf("%q is already the id of an earlier agent", t.ID)}
	}
	same := &Trace{ID: t.ID, block: t.block}
	var why error
	if same.requests, why = o.requests(t.requests); why != nil {
		return nil, why
	}
	var agents []*subagent // agents with requests
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
			return nil, &UnfitTrace{a.where, "t", fmt.Sprintf("%v: in tracelab the previous request starts an agent; here another request does", a.at)}
		}
	}
	(&parser{}).order(same)
	return same, nil
}

// place assigns indices in the list of the trace. An agent follows the last request that was sent when it began. It returns the number of requests
// before each agent.
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

// beforeIndex returns the number of requests before an index of the list.
func beforeIndex(list []*Request, index int) (n int) {
	for _, q := range list {
		if q.index < index {
			n++
		}
	}
	return n
}

// requests returns the requests of an agent, by time, as they will be read from rounds.
func (o *traceRounds) requests(list []*Request) ([]*Request, error) {
	block := o.trace.block
	same := make([]*Request, len(list))
	var before []int64
	end := 0.0
	for i, q := range list {
		whole := q.in / block
		switch {
		case i > 0 && q.at < list[i-1].at:
			return nil, &UnfitTrace{q.where, "t", fmt.Sprintf("%v comes after %v: rounds of tracelab must be sorted by time", q.at, list[i-1].at)}
		case len(q.ids) < whole:
			return nil, &UnfitTrace{q.where, "hash_ids", fmt.Sprintf("%d ids for %d blocks of %d tokens: tracelab needs one id per block", len(q.ids), whole, block)}
		case q.model == "":
			return nil, &UnfitTrace{q.where, "model", "missing"}
		}
		n := &Request{index: i, at: micro(q.at), model: q.model, in: q.in, out: q.out, typed: true, stopped: q.stopped, service: micro(q.service)}
		n.toolResult = q.answersTool(previous(list, i))
		keep := 0
		for keep < min(len(before), whole) && before[keep] == o.newIDs[q.ids[keep]] {
			keep++
		}
		n.ids = slices.Clone(before[:keep])
		for _, id := range q.ids[keep:whole] {
			if o.newIDs[id] != 0 {
				return nil, &UnfitTrace{q.where, "hash_ids", fmt.Sprintf("%d also appears elsewhere: a round of tracelab can share only its beginning, and only with the previous round", id)}
			}
			o.newIDs[id] = int64(len(o.newIDs) + 1)
			n.ids = append(n.ids, o.newIDs[id])
		}
		if i > 0 {
			think := max(0, n.at-end)
			n.thinkTime = &think
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

// agent returns an agent as it will be read from rounds, with the call that contains it.
func (o *traceRounds) agent(a *subagent) (*subagent, error) {
	switch {
	case a.tool > 0 || a.system > 0:
		return nil, &UnfitTrace{a.where, "tool_tokens, system_tokens", "tracelab cannot hold the length of the first message"}
	case a.id == "" || safeID(a.id) != a.id:
		return nil, &UnfitTrace{a.where, "agent_id", fmt.Sprintf("%.40q: tracelab allows only letters, digits, dots, _ and - in session ids, at most 150 of them", a.id)}
	}
	duration := micro(a.end() - a.at)
	if duration*1000 < minCall {
		return nil, &UnfitTrace{a.where, "duration_ms", fmt.Sprintf("%v: must be at least %d ms; tracelab does not read shorter calls as the start of an agent", duration*1000, minCall)}
	}
	for _, q := range a.requests {
		if q.at < a.at || q.end() > a.end()+epsilon {
			return nil, &UnfitTrace{q.where, "t", "is outside the time span (t, duration_ms) of its agent, by which tracelab finds the agent of a call"}
		}
	}
	list, why := o.requests(a.requests)
	return &subagent{at: micro(a.at), id: a.id, duration: &duration, kind: "Agent", status: "completed", requests: list}, why
}

// append appends all rounds of a trace.
func (o *traceRounds) append(dst []byte, t *Trace) []byte {
	calls := map[int][]*subagent{}
	for _, a := range t.subagents {
		at := beforeIndex(t.requests, a.index) - 1
		calls[at] = append(calls[at], a)
	}
	write := func(list []*Request, session string, calls map[int][]*subagent) {
		var before []int64
		for i, q := range list {
			dst = q.appendRound(dst, t, session, i, commonBlocks(before, q.ids), calls[i])
			before = q.ids
		}
	}
	write(t.requests, t.ID, calls)
	for _, a := range t.subagents {
		write(a.requests, a.id, nil)
	}
	return dst
}

// appendRound appends a request as a round, with its tool calls. had is the number of blocks shared with the previous round.
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
	o.Text("project", t.ID) // started agents are searched within one project
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

// written formats an instant, in s after the start, as in a recording.
func written(s float64) string {
	return roundsBegin.Add(time.Duration(micro(s)*1e6+0.5) * time.Microsecond).Format("2006-01-02T15:04:05.000000Z")
}

// isRead reports whether the rounds are read as the trace that was written.
func (o *traceRounds) isRead(text []byte, want *Trace) bool {
	var faults dataset.Faults
	again := NewRounds(&faults)
	for line := range strings.Lines(string(text)) {
		if r := rows.Parse("", []byte(line), &faults); r != nil {
			again.Add(r)
		}
	}
	var got []*Trace
	_, _, err := again.Traces(Join{Agents: true, Codex: true, Least: minCall}, want.block, func(t *Trace, _ string) bool { got = append(got, t); return false })
	if err != nil || faults.Count() > 0 || len(got) != 1 {
		return false
	}
	return reflect.DeepEqual(got[0].rounded(), want.rounded())
}

// rounded rounds computed values to a microsecond.
func (t *Trace) rounded() *Trace {
	round := func(list []*Request) {
		for _, q := range list {
			if q.thinkTime != nil {
				*q.thinkTime = micro(*q.thinkTime)
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
