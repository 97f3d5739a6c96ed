package custom

import (
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/trace"
)

// Allowed keys of a session of a graph and of its turns. Other keys are errors.
var (
	graphKeys = []string{
		"session_id", "turns", "type", "orchestrator", "context_mode", "pre_session_spawns", "spawns", "rounds", "think_time_ms", "think_time_sigma",
		"think_time_min_ms", "think_time_max_ms",
	}
	graphTurnKeys = []string{"messages", "model", "max_tokens", "tools", "extra", "forks", "spawns", "delay"}
)

// link is a reference from one session to another that it starts.
type link struct {
	where, at  string // the row, and the field in it
	target     string
	turn       int
	fork       bool
	background bool // for a fork: the session continues while the fork runs
	join       int  // turn that waits for the end of the target; 0 = none
	before     bool // the target starts before the turn
}

// readGraph reads sessions, one per row. A turn can fork other sessions, which continue from the history of the turn. It can also spawn sessions,
// which start with an empty history; the next turn, or a named later one, waits for their end. Sessions that no other session starts are the ones that
// can be drawn.
func readGraph(l *loader, path string) error {
	var sessions []entry
	g := newGraph(&l.faults, func(i int) entry { return sessions[i] })
	err := l.rows(path, nil, func(r *rows.Row) {
		e := graphEntry(l, r)
		g.add(&e)
		sessions = append(sessions, e)
	})
	if err != nil {
		return err
	}
	order := g.order()
	l.set.info.Started = g.startedCount()
	for _, i := range order {
		c := sessions[i].Conversation
		for s := range g.started(int(i)) {
			c.Turns[s.turn].Branches = append(c.Turns[s.turn].Branches, s.Branch)
		}
		l.add(c)
	}
	return nil
}

var graphLayout = layout{supply: openLines, keys: graphKeys, entry: graphEntry, gather: func() grouper { return &byGraph{} }}

// graphEntry reads one session, with its references to others.
func graphEntry(l *loader, r *rows.Row) entry {
	s := &sessionRow{loader: l}
	s.read(r)
	return entry{Conversation: s.session, links: s.links}
}

// byGraph orders sessions: first those that can be drawn, then those that others start.
type byGraph struct{ *graph }

func (g *byGraph) note(l *loader, _ int, e *entry) {
	if g.graph == nil {
		g.graph = newGraph(&l.faults, nil)
	}
	g.add(e)
}

func (g *byGraph) done(x *indexed, l *loader) *rowstore.Grouping {
	g.rereadRow = x.row
	order := g.order()
	l.set.info.Started = g.startedCount()
	x.branches = &g.startGraph
	x.withID = len(order)
	return rowstore.EachRow(order)
}

// sessionRow is the state of parsing a row as a session.
type sessionRow struct {
	*loader
	session conversation.Conversation
	links   []link
}

// read reads a row.
func (g *sessionRow) read(r *rows.Row) {
	checkType(r, "dag_jsonl")
	g.session = conversation.Conversation{Mode: contextMode(r)}
	for _, key := range unknownKeys(r, graphKeys) {
		r.Fault(key, "unknown key%s; allowed are %s", guess(key, graphKeys), strings.Join(graphKeys, ", "))
	}
	switch id := r.String("session_id"); {
	case id == nil && !r.Has("session_id"):
		r.Fault("session_id", "missing")
	case id == nil:
	case *id == "":
		r.Fault("session_id", "must not be empty")
	default:
		g.session.ID = *id
	}
	if g.orchestrates(r) {
		g.session.Turns = g.rounds(r)
		return
	}
	if !r.Has("turns") {
		r.Fault("turns", "missing")
	}
	items := r.List("turns")
	if items != nil && len(items) == 0 {
		r.Fault("turns", "at least one turn is needed")
	}
	g.link(r, "pre_session_spawns", 0, 0)
	var turns []conversation.Turn
	for i, raw := range items {
		if item := r.Item("turns", i, raw); item != nil {
			g.systems(item, g.session.Mode, len(turns))
			turns = append(turns, g.turn(item, len(turns), len(items)))
		}
	}
	if len(turns) == 0 {
		turns = []conversation.Turn{{Origin: r.Where}} // an error was recorded already, but other sessions may refer to this one
	}
	g.session.Turns = turns
}

// turn reads a turn of the current session.
func (g *sessionRow) turn(r *rows.Row, index, turns int) conversation.Turn {
	for _, key := range unknownKeys(r, graphTurnKeys) {
		r.Fault(key, "unknown key%s; allowed are %s", guess(key, graphTurnKeys), strings.Join(graphTurnKeys, ", "))
	}
	if !r.Has("messages") {
		r.Fault("messages", "missing")
	}
	t := conversation.Turn{
		MaxTokens:   r.Int("max_tokens", 1),
		Delay:       delay(r.Duration("delay"), g.DelayRatio, g.DelayCap),
		RawMessages: trace.Messages(r),
		ExtraBody:   r.Object("extra"),
		Origin:      r.Where,
	}
	if model := r.String("model"); model != nil {
		t.Model = *model
	}
	if r.List("tools") != nil {
		t.RawTools = rows.Compact(r.Raw("tools"))
	}
	g.link(r, "forks", index, turns)
	g.link(r, "spawns", index, turns)
	return t
}

// contextMode reads how much history a request of the session carries.
func contextMode(r *rows.Row) conversation.Mode {
	name := r.String("context_mode")
	if name == nil {
		return ""
	}
	modes := []conversation.Mode{conversation.DeltasWithoutResponses, conversation.DeltasWithResponses, conversation.MessageArrayWithResponses}
	for _, m := range modes {
		if string(m) == *name {
			return m
		}
	}
	r.Fault("context_mode", "must be one of %v, got %q", modes, *name)
	return ""
}

// systems reports system messages where chat templates would drop them: after the first message of a request.
func (g *sessionRow) systems(r *rows.Row, mode conversation.Mode, turn int) {
	for i, raw := range r.List("messages") {
		var m struct{ Role any }
		if json.Unmarshal(raw, &m) != nil || m.Role != "system" {
			continue
		}
		switch {
		case mode == conversation.MessageArrayWithResponses && i > 0:
			r.Fault("messages", "a system message must be the first of its turn")
		case mode != conversation.MessageArrayWithResponses && turn > 0:
			r.Fault("messages", "a system message is allowed only in the first turn, and only of a session that is not forked")
		}
	}
}

// link reads the sessions that a turn, or the start of a session, starts.
func (g *sessionRow) link(r *rows.Row, field string, turn, turns int) {
	seen := map[string]bool{}
	for i, raw := range r.List(field) {
		for _, k := range g.entry(r, field, i, raw, turn, turns) {
			if seen[k.target] {
				r.Fault(field, "%q is used twice", k.target)
				continue
			}
			seen[k.target] = true
			k.where, k.at, k.turn, k.fork, k.before = r.Where, r.Path(field), turn, field == "forks", field == "pre_session_spawns"
			g.links = append(g.links, k)
		}
	}
}

// entry reads one entry of such a list: an id, {child, background} for a fork, or {children, join_at} for spawns.
func (g *sessionRow) entry(r *rows.Row, field string, i int, raw json.RawMessage, turn, turns int) []link {
	next := 0
	if field == "spawns" && turn+1 < turns {
		next = turn + 1
	}
	place := fmt.Sprintf("%s[%d]", field, i)
	var id string
	if rows.Kind(raw) == "string" && json.Unmarshal(raw, &id) == nil {
		if id == "" {
			r.Fault(place, "must not be empty")
			return nil
		}
		return []link{{target: id, join: next}}
	}
	if rows.Kind(raw) != "object" || field == "pre_session_spawns" {
		r.Fault(place, "must be a string, got a %s", rows.Kind(raw))
		return nil
	}
	o := r.Item(field, i, raw)
	if o == nil {
		return nil
	}
	keys := map[string][]string{"forks": {"child", "background"}, "spawns": {"children", "join_at"}}[field]
	for _, key := range unknownKeys(o, keys) {
		o.Fault(key, "unknown key; allowed are %s", strings.Join(keys, ", "))
	}
	if field == "forks" {
		child := o.String("child")
		if child == nil || *child == "" {
			o.Fault("child", "missing")
			return nil
		}
		return []link{{target: *child, background: string(o.Raw("background")) == "true"}}
	}
	if join := o.Int("join_at", 0); join != nil {
		if next = *join; next <= turn || next >= turns {
			o.Fault("join_at", "must be a turn after this one: %d to %d, got %d", turn+1, turns-1, next)
		}
	}
	children := o.Strings("children")
	if len(children) == 0 {
		o.Fault("children", "at least one session is needed")
	}
	var list []link
	for _, c := range children {
		list = append(list, link{target: c, join: next})
	}
	return list
}

// RootSessions counts the sessions of a dag_jsonl file that no other session starts. It returns 0 if the file cannot be read; reading it later reports
// the error.
func RootSessions(path string) int {
	l := &loader{Options: Options{Root: rng.New(nil)}, set: &Dataset{}, media: newLibrary()}
	l.DelayRatio, l.Type = 1, "dag_jsonl"
	all, started := map[string]bool{}, map[string]bool{}
	err := l.rows(path, nil, func(r *rows.Row) {
		e := graphEntry(l, r)
		all[e.ID] = true
		for _, k := range e.links {
			started[k.target] = true
		}
	})
	if err != nil || l.faults.Count() > 0 {
		return 0
	}
	n := 0
	for id := range all {
		if !started[id] {
			n++
		}
	}
	return n
}
