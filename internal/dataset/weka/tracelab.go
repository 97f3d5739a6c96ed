package weka

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"slices"
	"sort"
	"time"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
)

// Join says how the agents are found that a session of TraceLab started: the recording does not tell, but such a session lies in time within the
// call of the tool that started it.
type Join struct {
	Agents bool    // they are looked for
	Codex  bool    // also those of Codex, whose calls return at once: then from its first start of an agent to its last wait for one
	Least  float64 // ms: a shorter call started no agent
}

// Rounds are the rows of a TraceLab file, one a round of a session with its model. In memory are its sessions; what a row says is kept elsewhere.
type Rounds struct {
	faults   *dataset.Faults
	sessions map[string]*recorded
	order    []*recorded
	undated  int
	kept     keptRounds
}

// NewRounds returns an empty recording, which notes what is wrong with its rows.
func NewRounds(faults *dataset.Faults) *Rounds {
	return &Rounds{faults: faults, sessions: map[string]*recorded{}, kept: keptRounds{models: map[string]uint32{}}}
}

// recorded is a session.
type recorded struct {
	id, where     string
	user, project string
	codex         bool
	rounds        int   // of them
	last          int64 // where the last one is kept
	windows       []window
	firstSpawn    float64 // s; +Inf = none
	lastWait      float64 // s; -Inf = none
	from, to      float64 // s: all that it did
	parent        *recorded
	in            window // call of the parent that it lies within
	children      []*recorded
}

// round is one request.
type round struct {
	request       Request
	number        int64
	prefix, total int // tokens
}

// window is the call of a tool that may have started an agent, s.
type window struct{ from, to, duration float64 }

// RoundKeys are the keys of a row; others are ignored with a warning.
var RoundKeys = []string{
	"session_id", "round_index", "input_tokens_total", "prefix_tokens", "newly_append_tokens", "output_tokens", "reasoning_output_tokens", "model", "provider",
	"user", "project", "timing_events", "tools", "first_input_event_type", "type", "trace_key",
}

// Add takes a row.
func (t *Rounds) Add(r *rows.Row) {
	p, before := &parser{}, r.Faults()
	id := p.text(r, "session_id")
	total := p.count(r, "input_tokens_total", 0)
	q := round{prefix: min(p.optional(r, "prefix_tokens"), total), total: total}
	if n := r.Int64("round_index"); n != nil {
		q.number = *n
	}
	q.request = Request{in: max(1, total), out: p.optional(r, "output_tokens") + p.optional(r, "reasoning_output_tokens"), model: "unknown"}
	if model := r.String("model"); model != nil && *model != "" {
		q.request.model = *model
	}
	q.request.typed = true
	if kind := r.String("first_input_event_type"); kind != nil {
		q.request.toolResult = *kind == "tool_result"
	}
	s := t.sessions[id]
	if s == nil {
		s = &recorded{id: id, where: r.Where, firstSpawn: math.Inf(1), lastWait: math.Inf(-1), from: math.Inf(1), to: math.Inf(-1)}
		s.user, s.project, s.codex = optionalText(r, "user"), optionalText(r, "project"), optionalText(r, "provider") == "codex"
		t.sessions[id] = s
		t.order = append(t.order, s)
	}
	dated := s.events(r, &q.request)
	s.tools(r)
	switch {
	case id == "" && r.Faults() == before:
		r.Fault("session_id", "must not be empty")
	case !dated:
		t.undated++
	default:
		t.kept.put(s, &q, r)
	}
}

func optionalText(r *rows.Row, field string) string {
	if s := r.String(field); s != nil {
		return *s
	}
	return ""
}

// instant reads a time of ISO 8601, s since 1970; one without a zone is UTC. false = it is not there, or wrong.
func instant(r *rows.Row, field string) (float64, bool) {
	text := optionalText(r, field)
	if text == "" {
		return 0, false
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.UnixMicro()) / 1e6, true
		}
	}
	r.Fault(field, "must be a time of ISO 8601, got %.40q", text)
	return 0, false
}

// micro rounds to what the recording tells, µs: seconds since 1970 as such have no more.
func micro(s float64) float64 { return math.Round(s*1e6) / 1e6 }

func (s *recorded) did(at float64) { s.from, s.to = min(s.from, at), max(s.to, at) }

// events reads when a round took place: it was sent after its last input, and answered with its last output. false = nothing tells it.
func (s *recorded) events(r *rows.Row, q *Request) bool {
	lastIn, firstOut, lastOut := math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, raw := range r.List("timing_events") {
		e := r.Item("timing_events", i, raw)
		if e == nil {
			continue
		}
		at, dated := instant(e, "timestamp")
		if dated {
			s.did(at)
		}
		switch kind := optionalText(e, "event_type"); kind {
		case "user_message", "tool_result":
			if dated {
				lastIn = max(lastIn, at)
			}
		case "text", "reasoning", "tool_call":
			q.stopped = q.stopped || kind == "tool_call"
			if dated {
				firstOut, lastOut = min(firstOut, at), max(lastOut, at)
			}
		}
	}
	switch {
	case !math.IsInf(lastIn, 0):
		q.at = lastIn
	case !math.IsInf(firstOut, 0):
		q.at = firstOut
	default:
		return false
	}
	q.service = micro(max(0, lastOut-q.at))
	return true
}

// tools notes the calls that may have started agents.
func (s *recorded) tools(r *rows.Row) {
	for i, raw := range r.List("tools") {
		tool := r.Item("tools", i, raw)
		if tool == nil {
			continue
		}
		from, begun := instant(tool, "emitted_at")
		to, ended := instant(tool, "result_at")
		if begun {
			s.did(from)
		}
		if ended {
			s.did(to)
		}
		switch optionalText(tool, "tool_name") {
		case "spawn_agent":
			if begun {
				s.firstSpawn = min(s.firstSpawn, from)
			}
		case "wait_agent":
			if ended {
				s.lastWait = max(s.lastWait, to)
			}
		case "Agent", "Task":
			if took := tool.Number("tool_wall_latency_ms"); took != nil && begun && ended {
				s.windows = append(s.windows, window{from, to, *took / 1000})
			}
		}
	}
}

// Traces makes traces of the sessions, with blocks of so many tokens, and calls f for each until f returns true. unplaced are agents that were found
// but had no request before them to start them: they are traces of their own. undated are rows without a time, which are left out. An error = what was kept cannot be read.
func (t *Rounds) Traces(j Join, block int, f func(t *Trace, where string) bool) (unplaced, undated int, err error) {
	t.kept.flush()
	defer func() { err = errors.Join(t.kept.fault, t.kept.Close()) }()
	if j.Agents {
		t.join(j)
	}
	nested := map[*recorded]bool{}
	for _, s := range t.order {
		if s.parent != nil {
			continue
		}
		if made := s.trace(&t.kept, block, nested); made != nil && f(made, s.where) {
			return 0, t.undated, nil
		}
	}
	for _, s := range t.order {
		if s.parent == nil || nested[s] {
			continue
		}
		s.children = nil
		if made := s.trace(&t.kept, block, nested); made != nil {
			unplaced++
			if f(made, s.where) {
				break
			}
		}
	}
	return unplaced, t.undated, nil
}

// join finds the sessions that others started: of the same user and project, within the call of a tool, of several the shortest. What such a
// session started itself stays a trace of its own, for agents are one deep.
func (t *Rounds) join(j Join) {
	type owner struct{ user, project string }
	type family struct {
		sessions []*recorded
		calls    []call
	}
	families := map[owner]*family{}
	for _, s := range t.order {
		if s.codex && j.Codex && s.lastWait > s.firstSpawn {
			s.windows = []window{{s.firstSpawn, s.lastWait, s.lastWait - s.firstSpawn}}
		} else if s.codex {
			s.windows = nil
		}
		f := families[owner{s.user, s.project}]
		if f == nil {
			f = &family{}
			families[owner{s.user, s.project}] = f
		}
		f.sessions = append(f.sessions, s)
		for _, w := range s.windows {
			if s.codex || w.duration*1000 >= j.Least {
				f.calls = append(f.calls, call{w, s})
			}
		}
	}
	parents := map[*recorded]call{}
	for _, f := range families {
		for i, c := range within(f.sessions, f.calls) {
			if c != nil {
				parents[f.sessions[i]] = *c
			}
		}
	}
	for _, s := range t.order {
		c, found := parents[s]
		if _, deeper := parents[c.by]; !found || deeper {
			continue
		}
		s.parent, s.in = c.by, c.window
		c.by.children = append(c.by.children, s)
	}
}

// unsafe are the characters of session ids that ids of traces do not have.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func safeID(id string) string {
	id = unsafe.ReplaceAllString(id, "_")
	return id[:min(len(id), 150)]
}

// trace makes a trace of a session and of those that it started; nil = no round of it has a time. The ones that have found their place are noted in
// nested.
func (s *recorded) trace(kept *keptRounds, block int, nested map[*recorded]bool) *Trace {
	rounds := kept.of(s)
	if len(rounds) == 0 {
		return nil
	}
	t := &Trace{ID: safeID(s.id), where: s.where, block: block}
	minted := int64(0)
	t.requests = requests(rounds, block, &minted)
	zero := t.requests[0].at
	for _, c := range s.children {
		// After the last request that was made by then; a place of the list that no other request has.
		place := sort.Search(len(t.requests), func(i int) bool { return t.requests[i].at-zero > c.in.from-zero }) - 1
		if place < 0 || c.rounds == 0 {
			continue
		}
		nested[c] = true
		duration := c.in.duration
		a := &subagent{index: place, at: micro(c.in.from - zero), id: safeID(c.id), kind: "Agent", status: "completed", duration: &duration, where: c.where, requests: requests(kept.of(c), block, &minted)}
		for _, q := range a.requests {
			q.at = micro(q.at - zero)
		}
		t.subagents = append(t.subagents, a)
	}
	for _, q := range t.requests {
		q.at = micro(q.at - zero)
	}
	slices.SortStableFunc(t.subagents, func(a, b *subagent) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.at, b.at)) })
	t.number()
	(&parser{}).order(t)
	return t
}

// number gives requests and agents their places in one list: an agent stands behind the request whose place it has.
func (t *Trace) number() {
	next, at := 0, 0
	for i, q := range t.requests {
		q.index = next
		next++
		for ; at < len(t.subagents) && t.subagents[at].index == i; at++ {
			t.subagents[at].index = next
			next++
		}
	}
}

// requests are the rounds as requests, by time, each with the ids of its blocks: those of the round before as far as its prefix goes, new ones
// behind them.
func requests(rounds []round, block int, minted *int64) []*Request {
	slices.SortStableFunc(rounds, func(a, b round) int {
		return cmp.Or(cmp.Compare(a.request.at, b.request.at), cmp.Compare(a.number, b.number))
	})
	list := make([]*Request, len(rounds))
	var before []int64
	end := 0.0
	for i := range rounds {
		r := &rounds[i]
		q := r.request
		q.index = i
		blocks := r.total / block
		q.ids = before[:min(r.prefix/block, len(before), blocks)]
		if len(q.ids) < len(before) { // else what it adds goes behind those of the round before, which has no more: a long session has each id once
			q.ids = slices.Clone(q.ids)
		}
		for len(q.ids) < blocks {
			*minted++
			q.ids = append(q.ids, *minted)
		}
		if i > 0 {
			think := max(0, q.at-end)
			q.think = &think
		}
		end, before = q.end(), q.ids
		list[i] = &q
	}
	return list
}
