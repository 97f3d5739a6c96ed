package weka

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sort"
	"time"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/sorting"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// Join controls how agents that a TraceLab session started are found. The recording does not link them. A started session runs within the tool call
// that started it.
type Join struct {
	Agents bool    // look for started agents
	Codex  bool    // also for Codex, whose calls return at once: its window is from the first start of an agent to the last wait for one
	Least  float64 // ms; shorter calls started no agent
}

// Rounds collects the rows of a TraceLab file, one per round of a session. Its sessions are in memory; the rounds are in a temporary file.
type Rounds struct {
	faults   *dataset.Faults
	sessions map[string]*recordedSession
	order    []*recordedSession
	undated  int
	stored   storedRounds
}

// NewRounds returns an empty recording. It records errors of rows in faults.
func NewRounds(faults *dataset.Faults) *Rounds {
	return &Rounds{faults: faults, sessions: map[string]*recordedSession{}, stored: storedRounds{models: map[string]uint32{}}}
}

// recordedSession is a session of the recording.
type recordedSession struct {
	id, where     string
	user, project string
	codex         bool
	rounds        int   // number of rounds
	last          int64 // offset of the last stored round
	windows       []window
	firstSpawn    float64 // s; +Inf = none
	lastWait      float64 // s; -Inf = none
	from, to      float64 // s: start and end of all its activity
	parent        *recordedSession
	in            window // call of the parent that contains it
	children      []*recordedSession
}

// round is one request.
type round struct {
	request       Request
	number        int64
	prefix, total int // tokens
}

// window is a tool call that may have started an agent, in s.
type window struct{ from, to, duration float64 }

// RoundKeys are the keys of a row. Others are ignored with a warning.
var RoundKeys = []string{
	"session_id", "round_index", "input_tokens_total", "prefix_tokens", "newly_append_tokens", "output_tokens", "reasoning_output_tokens", "model", "provider",
	"user", "project", "timing_events", "tools", "first_input_event_type", "type", "trace_key",
}

// Add adds a row.
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
		s = &recordedSession{id: id, where: r.Where, firstSpawn: math.Inf(1), lastWait: math.Inf(-1), from: math.Inf(1), to: math.Inf(-1)}
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
		t.stored.put(s, &q, r)
	}
}

func optionalText(r *rows.Row, field string) string {
	if s := r.String(field); s != nil {
		return *s
	}
	return ""
}

// instant parses an ISO 8601 time, in s since 1970. A time without a zone is UTC. It returns false if the field is missing or invalid.
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
	r.Fault(field, "must be an ISO 8601 time, got %.40q", text)
	return 0, false
}

// micro rounds to µs, the resolution of a float with seconds since 1970.
func micro(s float64) float64 { return math.Round(s*1e6) / 1e6 }

func (s *recordedSession) hasRounds(at float64) { s.from, s.to = min(s.from, at), max(s.to, at) }

// events reads when a round took place. It was sent after its last input and answered with its last output. It returns false if no event has a time.
func (s *recordedSession) events(r *rows.Row, q *Request) bool {
	lastIn, firstOut, lastOut := math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, raw := range r.List("timing_events") {
		e := r.Item("timing_events", i, raw)
		if e == nil {
			continue
		}
		at, dated := instant(e, "timestamp")
		if dated {
			s.hasRounds(at)
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

// tools records the calls that may have started agents.
func (s *recordedSession) tools(r *rows.Row) {
	for i, raw := range r.List("tools") {
		tool := r.Item("tools", i, raw)
		if tool == nil {
			continue
		}
		from, begun := instant(tool, "emitted_at")
		to, ended := instant(tool, "result_at")
		if begun {
			s.hasRounds(from)
		}
		if ended {
			s.hasRounds(to)
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

// Traces builds the traces of the sessions, with block tokens per hash id, and calls f for each until f returns true. unplaced is the number of found
// agents without an earlier request of their parent; they become separate traces. undated is the number of rows without a time, which are skipped. An
// error means that the temporary file could not be read.
func (t *Rounds) Traces(j Join, block int, f func(t *Trace, where string) bool) (unplaced, undated int, err error) {
	t.stored.flush()
	defer func() { err = errors.Join(t.stored.fault, t.stored.Close()) }()
	if j.Agents {
		t.join(j)
	}
	nested := map[*recordedSession]bool{}
	for _, s := range t.order {
		if s.parent != nil {
			continue
		}
		if made := s.trace(&t.stored, block, nested); made != nil && f(made, s.where) {
			return 0, t.undated, nil
		}
	}
	for _, s := range t.order {
		if s.parent == nil || nested[s] {
			continue
		}
		s.children = nil
		if made := s.trace(&t.stored, block, nested); made != nil {
			unplaced++
			if f(made, s.where) {
				break
			}
		}
	}
	return unplaced, t.undated, nil
}

// join finds the sessions that other sessions started: same user and project, within a tool call. Of several calls, it chooses the shortest. Sessions
// started by a started session stay separate traces, because agents are nested only one level deep.
func (t *Rounds) join(j Join) {
	type owner struct{ user, project string }
	type family struct {
		sessions []*recordedSession
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
	parents := map[*recordedSession]call{}
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

// unsafe matches the characters of session ids that are not allowed in trace ids.
var unsafe = lazyregexp.New(`[^A-Za-z0-9._-]+`)

func safeID(id string) string {
	id = unsafe.ReplaceAllString(id, "_")
	return id[:min(len(id), 150)]
}

// trace builds a trace from a session and the sessions that it started. It returns nil if no round has a time. It adds the started sessions that it
// could place to nested.
func (s *recordedSession) trace(kept *storedRounds, block int, nested map[*recordedSession]bool) *Trace {
	rounds := kept.read(s)
	if len(rounds) == 0 {
		return nil
	}
	t := &Trace{ID: safeID(s.id), where: s.where, block: block}
	minted := int64(0)
	t.requests = requests(rounds, block, &minted)
	zero := t.requests[0].at
	for _, c := range s.children {
		// After the last request sent by then; the index is later made unique by number.
		place := sort.Search(len(t.requests), func(i int) bool { return t.requests[i].at-zero > c.in.from-zero }) - 1
		if place < 0 || c.rounds == 0 {
			continue
		}
		nested[c] = true
		duration := c.in.duration
		a := &subagent{index: place, at: micro(c.in.from - zero), id: safeID(c.id), kind: "Agent", status: "completed", duration: &duration, where: c.where, requests: requests(kept.read(c), block, &minted)}
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

// number assigns indices in one list to requests and agents. An agent follows the request whose index it has.
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

// requests returns the rounds as requests, by time. Each gets hash ids for its blocks: those of the previous round up to its prefix, then new ones.
func requests(rounds []round, block int, minted *int64) []*Request {
	sorting.Stable(rounds, func(a, b round) int {
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
		if len(q.ids) < len(before) { // otherwise append in place, so that a long session stores each id only once
			q.ids = slices.Clone(q.ids)
		}
		for len(q.ids) < blocks {
			*minted++
			q.ids = append(q.ids, *minted)
		}
		if i > 0 {
			think := max(0, q.at-end)
			q.thinkTime = &think
		}
		end, before = q.end(), q.ids
		list[i] = &q
	}
	return list
}
