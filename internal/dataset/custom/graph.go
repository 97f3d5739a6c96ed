package custom

import (
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
)

// The keys of a session of a graph and of its turns; others are faults.
var (
	graphKeys = []string{
		"session_id", "turns", "type", "orchestrator", "context_mode", "pre_session_spawns", "spawns", "rounds", "think_time_ms", "think_time_sigma",
		"think_time_min_ms", "think_time_max_ms",
	}
	graphTurnKeys = []string{"messages", "model", "max_tokens", "tools", "extra", "forks", "spawns", "delay"}
)

// mostOfRoot bounds the requests that one drawn session leads to.
const mostOfRoot = 100_000

// graph is a file of sessions whose turns start others. Of each it keeps what tells whom it starts.
type graph struct {
	*loader
	nodes    []node
	links    []link
	place    map[string]int
	branches map[int][]started // by session
	started  []bool            // some session starts it
	requests []int             // it leads to, itself included; 0 = not counted yet, -1 = being counted
}

// node is a session without what it sends.
type node struct {
	id, where string
	mode      conversation.Mode
	turns     int
	requests  int // of its own
	systems   int // system messages of its first turn
}

// link is a place that names another session.
type link struct {
	where, at     string // the row, and the field in it
	target        string
	session, turn int
	fork          bool
	background    bool // of a fork: the session goes on beside it
	join          int  // turn that waits for its end, 0 = none
	before        bool // it begins before the turn
}

func newGraph(l *loader) *graph {
	return &graph{loader: l, place: map[string]int{}, branches: map[int][]started{}}
}

// readGraph reads sessions, one a row, whose turns fork others (which go on from the turn's history) or spawn others (which begin empty; the
// next turn, or a later one that is named, waits for their end). Sessions that no other starts are drawn.
func readGraph(l *loader, path string) error {
	g := newGraph(l)
	var sessions []conversation.Conversation
	err := l.rows(path, graphKeys, func(r *rows.Row) {
		if e := graphEntry(l, r); g.add(&e) {
			sessions = append(sessions, e.Conversation)
		}
	})
	if err != nil {
		return err
	}
	for _, i := range g.order() {
		c := sessions[i]
		for _, s := range g.branches[int(i)] {
			c.Turns[s.turn].Branches = append(c.Turns[s.turn].Branches, s.Branch)
		}
		l.add(c)
	}
	return nil
}

var graphLayout = layout{supply: openLines, keys: graphKeys, entry: graphEntry, gather: func() gathering { return &byGraph{} }}

// graphEntry is a session on its own, with the places in which it names others.
func graphEntry(l *loader, r *rows.Row) entry {
	s := &sessionRow{loader: l}
	s.read(r)
	return entry{Conversation: s.session, links: s.links}
}

// byGraph puts the sessions that are drawn in front of those that others start.
type byGraph struct{ *graph }

func (g *byGraph) note(l *loader, _ int, e *entry) {
	if g.graph == nil {
		g.graph = newGraph(l)
	}
	g.add(e)
}

func (g *byGraph) done(x *indexed, _ *loader) *membership {
	order := g.order()
	x.branches = g.branches
	x.own = len(order)
	return each(order)
}

// add notes a session; false = it is a fault.
func (g *graph) add(e *entry) bool {
	where := e.Turns[0].Origin
	if e.ID != "" {
		if at, twice := g.place[e.ID]; twice {
			g.faults.Add(where, "session_id", "%q is there twice, first in %s", e.ID, g.nodes[at].where)
			return false
		}
		g.place[e.ID] = len(g.nodes)
	}
	n := node{id: e.ID, where: where, mode: e.Mode, turns: len(e.Turns)}
	for k := range e.Turns {
		if !e.Turns[k].Silent {
			n.requests++
		}
	}
	for _, raw := range e.Turns[0].RawMessages {
		var m struct{ Role any }
		if json.Unmarshal(raw, &m) == nil && m.Role == "system" {
			n.systems++
		}
	}
	for _, k := range e.links {
		k.session = len(g.nodes)
		g.links = append(g.links, k)
	}
	g.nodes = append(g.nodes, n)
	return true
}

// sessionRow is a row on its way to be a session.
type sessionRow struct {
	*loader
	session conversation.Conversation
	links   []link
}

// read reads a row.
func (g *sessionRow) read(r *rows.Row) {
	checkType(r, "dag_jsonl")
	g.session = conversation.Conversation{Mode: contextMode(r)}
	for _, key := range strange(r, graphKeys) {
		r.Fault(key, "unknown key; allowed are %s", strings.Join(graphKeys, ", "))
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
		turns = []conversation.Turn{{Origin: r.Where}} // it is a fault already; others may name it
	}
	g.session.Turns = turns
}

// turn reads a turn of the session that is being read.
func (g *sessionRow) turn(r *rows.Row, index, turns int) conversation.Turn {
	for _, key := range strange(r, graphTurnKeys) {
		r.Fault(key, "unknown key; allowed are %s", strings.Join(graphTurnKeys, ", "))
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

// contextMode reads how a session's history goes out.
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

// systems notes system messages where chat templates drop them: behind the first message of a request.
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
			r.Fault("messages", "a system message belongs to the first turn of a session that nobody forks")
		}
	}
}

// link reads the sessions that a turn, or the beginning of a session, starts.
func (g *sessionRow) link(r *rows.Row, field string, turn, turns int) {
	seen := map[string]bool{}
	for i, raw := range r.List(field) {
		for _, k := range g.entry(r, field, i, raw, turn, turns) {
			if seen[k.target] {
				r.Fault(field, "%q is there twice", k.target)
				continue
			}
			seen[k.target] = true
			k.where, k.at, k.turn, k.fork, k.before = r.Where, r.Path(field), turn, field == "forks", field == "pre_session_spawns"
			g.links = append(g.links, k)
		}
	}
}

// entry reads one entry of such a list: an id, for forks {child, background}, for spawns {children, join_at}.
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
	for _, key := range strange(o, keys) {
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

// order tells in which order sessions stand: those that are drawn, then those that others start. nil = something is wrong.
func (g *graph) order() []uint32 {
	g.started, g.requests = make([]bool, len(g.nodes)), make([]int, len(g.nodes))
	forked := map[int]link{}
	for _, k := range g.links {
		g.connect(k, forked)
	}
	g.isolated(forked)
	if g.faults.Count() > 0 {
		return nil
	}
	for i := range g.nodes {
		if !g.count(i, nil) {
			return nil
		}
	}
	to := make([]int, len(g.nodes))
	order := make([]uint32, 0, len(g.nodes))
	for _, started := range []bool{false, true} {
		for i := range g.nodes {
			if g.started[i] == started {
				to[i] = len(order)
				order = append(order, uint32(i))
			}
		}
		if !started {
			g.set.info.Started = len(g.nodes) - len(order)
		}
	}
	for _, list := range g.branches {
		for i := range list {
			list[i].Conversation = to[list[i].Conversation]
		}
	}
	return order
}

// connect finds the session that a link names. forked are the sessions that are forked so far: each has one parent.
func (g *graph) connect(k link, forked map[int]link) {
	to, known := g.place[k.target]
	if !known {
		g.faults.Add(k.where, k.at, "%q is no session of the file", k.target)
		return
	}
	g.started[to] = true
	if k.fork {
		if other, again := forked[to]; again {
			g.faults.Add(k.where, k.at, "%q is forked in %s too: a fork goes on from one history", k.target, other.where)
		}
		forked[to] = k
		if !k.background && k.turn+1 < g.nodes[k.session].turns {
			g.faults.Add(k.where, k.at, "%q: a session ends with its forks; write {\"child\": …, \"background\": true} where it goes on, or move them to the last turn", k.target)
		}
	}
	g.branches[k.session] = append(g.branches[k.session], started{k.turn, conversation.Branch{Conversation: to, Fork: k.fork, Join: k.join, Before: k.before}})
}

// isolated notes forks that would lose what they go on from.
func (g *graph) isolated(forked map[int]link) {
	for _, k := range g.links {
		to, known := g.place[k.target]
		if !known {
			continue
		}
		if _, is := forked[to]; is && k.before {
			g.faults.Add(k.where, k.at, "%q is forked too: what begins before a session has no history to go on from", k.target)
		}
		if k.fork && g.nodes[to].mode == conversation.MessageArrayWithResponses {
			g.faults.Add(k.where, k.at, "%q has context_mode %s, which drops the history that it would go on from", k.target, conversation.MessageArrayWithResponses)
		}
	}
	for _, k := range g.links {
		to, known := g.place[k.target]
		if known && k.fork && g.nodes[to].systems > 0 && g.nodes[to].mode != conversation.MessageArrayWithResponses {
			g.faults.Add(k.where, k.at, "%q begins with a system message, which would stand behind the history that it goes on from", k.target)
		}
	}
}

// count adds up the requests that a session leads to. way are the sessions that lead to it: one of them again is a cycle. false = a fault.
func (g *graph) count(i int, way []int) bool {
	if g.requests[i] > 0 {
		return true
	}
	node := &g.nodes[i]
	if g.requests[i] < 0 {
		names := []string{node.id}
		for k := len(way) - 1; k >= 0; k-- {
			names = append([]string{g.nodes[way[k]].id}, names...)
			if way[k] == i {
				break
			}
		}
		g.faults.Add(node.where, "session_id", "sessions start each other in a cycle: %s", strings.Join(names, " -> "))
		return false
	}
	g.requests[i] = -1
	way = append(way, i)
	n := node.requests
	for _, b := range g.branches[i] {
		if len(way) > mostOfRoot {
			n = mostOfRoot + 1
			break
		}
		if !g.count(b.Conversation, way) {
			return false
		}
		n += g.requests[b.Conversation]
	}
	if n > mostOfRoot {
		g.faults.Add(node.where, "session_id", "%q leads to more than %d requests", node.id, mostOfRoot)
		return false
	}
	g.requests[i] = n
	return true
}
