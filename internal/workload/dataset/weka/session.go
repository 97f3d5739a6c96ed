package weka

import (
	"encoding/json"
	"fmt"
	"slices"

	"aiperf/internal/workload/dataset"
)

// Options control how a trace is replayed.
type Options struct {
	Detection
	Tools       bool                          // tool results are sent as such
	Instant     bool                          // ignore the recorded times
	ThinkTime   bool                          // use the recorded think times as pauses, where they exist
	IdleCap     *float64                      // s; longest pause between the starts of requests; nil = as recorded
	MaxOut      int                           // tokens; maximum requested output; 0 = as recorded
	Models      []string                      // replace the recorded models, in the order of their first use
	Take        func(at float64, in int) bool `json:"-"` // reports whether to use a request, by its time in ms and its input tokens; nil = use all
	BlockTokens int                           // tokens per hash id; 0 = as stated by the trace
	Recorded    bool                          // fill the recorded data of turns
	Order       bool                          // fill Turn.After
}

// Session is the list of requests of one agent.
type Session struct {
	ID    string
	Trace string // namespace of its hash ids
	Block int    // tokens per hash id
	Turns []Turn
	edits []edit
	tools bool

	// For an agent that another agent started:
	Parent int  // turn of the main session that started it
	Join   int  // turn of the main session that waits for its end, 0 = none
	Before bool // it starts during that turn, not after its answer
}

// Turn is one request.
type Turn struct {
	Timestamp *float64 // ms since the trace began
	Delay     *float64 // ms after the previous answer; for the first turn of a started session: after the event that starts it
	Model     string
	MaxTokens int
	Took      float64 // ms until its answer; 0 = not recorded
	Where     string
	After     []Place // turns of other sessions in the trace that had been answered before it was sent (Options.Order)

	// Recorded data (Options.Recorded):
	Input   int     // tokens
	HashIDs []int64 // hash ids of the trace
}

// Sessions returns the sessions of a trace, the main agent's first. It returns none if the main agent has no request left. dropped is the number of
// agents that no remaining request starts.
func (t *Trace) Sessions(o Options, faults *dataset.Faults) (list []Session, dropped int) {
	block := t.block
	if o.BlockTokens > 0 {
		block = o.BlockTokens
	}
	requests := filterRequests(t.requests, o)
	main, others := o.split(t.ID, "::", requests, t.tool, t.system, block)
	if len(main.requests) == 0 {
		return nil, len(t.subagents)
	}
	var starts []float64
	note := func(list []*Request) {
		for _, q := range list {
			starts = append(starts, q.at)
		}
	}
	note(requests)
	var agents []*subagent
	inner := map[*subagent][]stream{}
	names := map[string]bool{}
	for _, a := range t.subagents {
		if !slices.ContainsFunc(main.requests, func(q *Request) bool { return q.index < a.index }) {
			dropped++
			continue
		}
		if names[a.id] {
			faults.Add(a.where, "agent_id", "%q is used twice", a.id)
		}
		names[a.id] = true
		kept := filterRequests(a.requests, o)
		if len(kept) == 0 {
			continue
		}
		first, more := o.split(t.ID+"::sa:"+a.id, ":", kept, a.tool, a.system, block)
		agents = append(agents, a)
		inner[a] = append([]stream{first}, more...)
		note(kept)
	}
	p := &planner{Options: o, trace: t, block: block, main: main.requests, clock: newClock(starts, o.IdleCap), faults: faults}
	list = append(list, p.session(&main))
	for _, a := range agents {
		for i := range inner[a] {
			list = append(list, p.started(&inner[a][i], a.index, a.end()))
		}
	}
	for i := range others {
		s := &others[i]
		end := 0.0
		for _, q := range s.requests {
			end = max(end, q.end())
		}
		list = append(list, p.started(s, s.requests[0].index, end))
	}
	if o.Order {
		setOrder(list)
	}
	return list, dropped
}

// filterRequests returns the requests that are not filtered out.
func filterRequests(list []*Request, o Options) []*Request {
	if o.Take == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(q *Request) bool { return !o.Take(q.at*1000, q.in) })
}

// planner builds the sessions of a trace.
type planner struct {
	Options
	trace  *Trace
	block  int
	main   []*Request
	clock  *clock
	faults *dataset.Faults
}

// session builds the session of a stream.
func (p *planner) session(s *stream) Session {
	if need := (s.tool + s.system + p.block - 1) / p.block; need > len(s.requests[0].ids) && need > 0 {
		p.faults.Add(s.requests[0].where, "hash_ids", "the first message has %d tokens, so %d blocks, but only %d ids", s.tool+s.system, need, len(s.requests[0].ids))
	}
	out := Session{ID: s.id, Trace: p.trace.ID, Block: p.block, edits: edits(s, p.block), tools: p.Tools, Turns: make([]Turn, len(s.requests))}
	for k, q := range s.requests {
		t := Turn{Model: p.model(q.model), MaxTokens: outputLength(q.out, p.MaxOut), Where: q.where}
		if p.Recorded {
			t.Input, t.HashIDs = q.in, q.ids
		}
		if !p.Instant {
			ms := p.clock.at(q.at) * 1000
			t.Timestamp, t.Took = &ms, q.service*1000
			if k > 0 {
				t.Delay = p.pause(s.requests[k-1], q)
			}
		}
		out.Turns[k] = t
	}
	return out
}

// pause returns the time between an answer and the next request, in ms.
func (p *planner) pause(before, q *Request) *float64 {
	ms := max(0, (p.clock.at(q.at)-p.clock.at(before.at))*1000-before.service*1000)
	if p.ThinkTime && q.thinkTime != nil && p.IdleCap == nil {
		ms = *q.thinkTime * 1000
	}
	return &ms
}

// model returns the model that replaces a recorded one.
func (p *planner) model(name string) string {
	if len(p.Models) == 0 {
		return name
	}
	return p.Models[slices.Index(p.trace.models, name)%len(p.Models)]
}

// started builds the session of an agent that started at an index of the trace's list and ended at end, in s. The last turn before that index starts
// it. The first later turn that was recorded after its end waits for it.
func (p *planner) started(s *stream, index int, end float64) Session {
	out := p.session(s)
	join := -1
	for k, q := range p.main {
		switch {
		case q.index < index:
			out.Parent = max(out.Parent, k)
		case p.clock.at(q.at)+epsilon >= p.clock.at(end) && (join < 0 || q.index < p.main[join].index):
			join = k
		}
	}
	if join > out.Parent {
		out.Join = join
	}
	if !p.Instant {
		parent := p.main[out.Parent]
		begin := p.clock.at(s.requests[0].at) - p.clock.at(parent.at)
		if out.Before = begin+epsilon < parent.service; !out.Before {
			begin -= parent.service
		}
		ms := max(0, begin*1000)
		out.Turns[0].Delay = &ms
	}
	return out
}

// Messages returns all messages of every request in the session. Messages that requests share are the same bytes.
func (s *Session) Messages(texts Texts) [][]json.RawMessage {
	out := make([][]json.RawMessage, len(s.edits))
	b := &buffer{}
	for k := range s.edits {
		b.apply(&s.edits[k], k, fmt.Sprintf("%s:turn_%d:partial_tail", s.ID, k))
		out[k] = b.messages(texts, s.tools)
	}
	return out
}
