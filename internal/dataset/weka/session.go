package weka

import (
	"encoding/json"
	"fmt"
	"slices"

	"aiperf/internal/dataset"
)

// Options say what becomes of a trace.
type Options struct {
	Detection
	Tools       bool                          // answers of tools are sent as such
	Instant     bool                          // without the recorded times
	ThinkTime   bool                          // pauses are the recorded think times, where there are some
	IdleCap     *float64                      // s, no longer pause between the beginnings of requests; nil = as recorded
	MaxOut      int                           // tokens, no longer answers are asked for; 0 = as recorded
	Models      []string                      // that the recorded models become, in the order of their use
	Take        func(at float64, in int) bool `json:"-"` // of a request at so many ms with so many tokens; nil = all are taken
	BlockTokens int                           // of a hash id; 0 = as the trace says
	Recorded    bool                          // turns tell what was recorded
	Order       bool                          // turns are to know what had been answered when they were sent
}

// Session is what one agent asks.
type Session struct {
	ID    string
	Trace string // whose hash ids its blocks are
	Block int    // tokens of a hash id
	Turns []Turn
	edits []edit
	tools bool

	// Of an agent that another started:
	Parent int  // turn of the trace's first session that started it
	Join   int  // turn of that session that waits for its end, 0 = none
	Before bool // it begins while that turn is under way, not after its answer
}

// Turn is one request.
type Turn struct {
	Timestamp *float64 // ms since the trace began
	Delay     *float64 // ms after the answer before it; of a started session's first turn: after it was started
	Model     string
	MaxTokens int
	Took      float64 // ms until its answer, 0 = not recorded
	Where     string
	After     []Place // what had been answered when it was sent, of other sessions of the trace (Options.Order)

	// As recorded (Options.Recorded):
	Input   int     // tokens
	HashIDs []int64 // of the trace
}

// Sessions are the sessions of a trace, the main agent's first; none if that has no request left. dropped are agents that nobody is left to start.
func (t *Trace) Sessions(o Options, faults *dataset.Faults) (list []Session, dropped int) {
	block := t.block
	if o.BlockTokens > 0 {
		block = o.BlockTokens
	}
	requests := taken(t.requests, o)
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
			faults.Add(a.where, "agent_id", "%q is there twice", a.id)
		}
		names[a.id] = true
		kept := taken(a.requests, o)
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

// taken are the requests that are not left out.
func taken(list []*Request, o Options) []*Request {
	if o.Take == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(q *Request) bool { return !o.Take(q.at*1000, q.in) })
}

// planner makes the sessions of a trace.
type planner struct {
	Options
	trace  *Trace
	block  int
	main   []*Request
	clock  *clock
	faults *dataset.Faults
}

// session makes the session of a stream.
func (p *planner) session(s *stream) Session {
	if need := (s.tool + s.system + p.block - 1) / p.block; need > len(s.requests[0].ids) && need > 0 {
		p.faults.Add(s.requests[0].where, "hash_ids", "the first message has %d tokens, which are %d blocks, but there are %d ids", s.tool+s.system, need, len(s.requests[0].ids))
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

// pause is the time between an answer and the next request, ms.
func (p *planner) pause(before, q *Request) *float64 {
	ms := max(0, (p.clock.at(q.at)-p.clock.at(before.at))*1000-before.service*1000)
	if p.ThinkTime && q.think != nil && p.IdleCap == nil {
		ms = *q.think * 1000
	}
	return &ms
}

// model is the name by which a recorded model is asked for.
func (p *planner) model(name string) string {
	if len(p.Models) == 0 {
		return name
	}
	return p.Models[slices.Index(p.trace.models, name)%len(p.Models)]
}

// started makes the session of an agent that was started at a place of the trace's list and was over at end, s. The turn before that place
// starts it; the first later one that was recorded after its end waits for it.
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

// Messages are the messages of every request of the session: all that it sends. Those that requests share are the same bytes.
func (s *Session) Messages(texts Texts) [][]json.RawMessage {
	out := make([][]json.RawMessage, len(s.edits))
	b := &buffer{}
	for k := range s.edits {
		b.apply(&s.edits[k], k, fmt.Sprintf("%s:turn_%d:partial_tail", s.ID, k))
		out[k] = b.messages(texts, s.tools)
	}
	return out
}
