package custom

import (
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
)

// The keys of a session of a graph and of its turns; others are faults.
var (
	graphKeys     = []string{"session_id", "turns", "type", "orchestrator"}
	graphTurnKeys = []string{"messages", "model", "max_tokens", "tools", "extra", "forks", "spawns", "delay"}
	// graphUnbuilt are known keys without a meaning here.
	graphUnbuilt = []string{"spawns", "rounds", "think_time_ms", "think_time_sigma", "think_time_min", "think_time_max", "context_mode", "pre_session_spawns"}
)

// mostOfRoot bounds the requests that one drawn session leads to.
const mostOfRoot = 100_000

// graph is a file of sessions whose turns start others.
type graph struct {
	*loader
	sessions []conversation.Conversation
	links    []link
	place    map[string]int
	started  []bool // some session starts it
	requests []int  // it leads to, itself included; 0 = not counted yet, -1 = being counted
}

// link is a place that names another session.
type link struct {
	row           *rows.Row // the turn
	field, target string
	session, turn int
	fork          bool
}

// readGraph reads sessions, one a row, whose turns fork others (which go on from the turn's history) or spawn others (which begin empty; the
// next turn waits for their end). Sessions that no other starts are drawn.
func readGraph(l *loader, path string) error {
	g := &graph{loader: l, place: map[string]int{}}
	if err := l.rows(path, append(graphKeys, graphUnbuilt...), g.session); err != nil {
		return err
	}
	g.started, g.requests = make([]bool, len(g.sessions)), make([]int, len(g.sessions))
	for _, k := range g.links {
		g.connect(k)
	}
	if l.faults.Count() > 0 {
		return nil
	}
	for i := range g.sessions {
		if !g.count(i, nil) {
			return nil
		}
	}
	g.order()
	return nil
}

// session reads a row.
func (g *graph) session(r *rows.Row) {
	checkType(r, "dag_jsonl")
	for _, key := range strange(r, graphKeys) {
		if contains(graphUnbuilt, key) {
			r.Fault(key, "not built yet; built are session_id and turns")
		} else {
			r.Fault(key, "unknown key; allowed are %s", strings.Join(graphKeys, ", "))
		}
	}
	if r.Has("orchestrator") && string(r.Raw("orchestrator")) != "false" {
		r.Fault("orchestrator", "not built yet; built are session_id and turns")
	}
	id := r.String("session_id")
	switch {
	case id == nil && !r.Has("session_id"):
		r.Fault("session_id", "missing")
	case id == nil:
	case *id == "":
		r.Fault("session_id", "must not be empty")
	default:
		if at, twice := g.place[*id]; twice {
			r.Fault("session_id", "%q is there twice, first in %s", *id, g.sessions[at].Turns[0].Origin)
			return
		}
	}
	c := conversation.Conversation{}
	if id != nil {
		c.ID = *id
		g.place[c.ID] = len(g.sessions)
	}
	if !r.Has("turns") {
		r.Fault("turns", "missing")
	}
	items := r.List("turns")
	if items != nil && len(items) == 0 {
		r.Fault("turns", "at least one turn is needed")
	}
	for i, raw := range items {
		if item := r.Item("turns", i, raw); item != nil {
			c.Turns = append(c.Turns, g.turn(item, len(c.Turns)))
		}
	}
	if len(c.Turns) == 0 {
		c.Turns = []conversation.Turn{{Origin: r.Where}} // it is a fault already; others may name it
	}
	g.sessions = append(g.sessions, c)
}

// turn reads a turn of the session that is being read.
func (g *graph) turn(r *rows.Row, index int) conversation.Turn {
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
	for _, field := range []string{"forks", "spawns"} {
		for _, target := range r.Strings(field) {
			g.links = append(g.links, link{row: r, field: field, target: target, session: len(g.sessions), turn: index, fork: field == "forks"})
		}
	}
	return t
}

// connect finds the session that a link names.
func (g *graph) connect(k link) {
	to, known := g.place[k.target]
	if !known {
		k.row.Fault(k.field, "%q is no session of the file", k.target)
		return
	}
	g.started[to] = true
	t := &g.sessions[k.session].Turns[k.turn]
	t.Branches = append(t.Branches, conversation.Branch{Conversation: to, Fork: k.fork})
}

// count adds up the requests that a session leads to. way are the sessions that lead to it: one of them again is a cycle. false = a fault.
func (g *graph) count(i int, way []int) bool {
	if g.requests[i] > 0 {
		return true
	}
	c := &g.sessions[i]
	if g.requests[i] < 0 {
		names := []string{c.ID}
		for k := len(way) - 1; k >= 0; k-- {
			names = append([]string{g.sessions[way[k]].ID}, names...)
			if way[k] == i {
				break
			}
		}
		g.faults.Add(c.Turns[0].Origin, "session_id", "sessions start each other in a cycle: %s", strings.Join(names, " -> "))
		return false
	}
	g.requests[i] = -1
	way = append(way, i)
	n := len(c.Turns)
	for k := range c.Turns {
		for _, b := range c.Turns[k].Branches {
			if len(way) > mostOfRoot {
				n = mostOfRoot + 1
				break
			}
			if !g.count(b.Conversation, way) {
				return false
			}
			n += g.requests[b.Conversation]
		}
	}
	if n > mostOfRoot {
		g.faults.Add(c.Turns[0].Origin, "session_id", "%q leads to more than %d requests", c.ID, mostOfRoot)
		return false
	}
	g.requests[i] = n
	return true
}

// order puts the sessions that are drawn in front of those that others start.
func (g *graph) order() {
	to := make([]int, len(g.sessions))
	next := 0
	for _, started := range []bool{false, true} {
		for i := range g.sessions {
			if g.started[i] == started {
				to[i] = next
				next++
			}
		}
	}
	ordered := make([]conversation.Conversation, len(g.sessions))
	for i, c := range g.sessions {
		for k := range c.Turns {
			for b := range c.Turns[k].Branches {
				branch := &c.Turns[k].Branches[b]
				branch.Conversation = to[branch.Conversation]
			}
		}
		ordered[to[i]] = c
		if g.started[i] {
			g.set.info.Started++
		}
	}
	for _, c := range ordered {
		g.add(c)
	}
}
