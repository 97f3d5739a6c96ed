package custom

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rowstore"
)

// maxRequestsPerRoot is the maximum number of requests that one drawn session leads to.
const maxRequestsPerRoot = 100_000

// startGraph stores which sessions start which. There may be millions, so it stores no text.
type startGraph struct {
	drawn int                   // number of sessions that no other session starts
	nodes rowstore.Column[node] // by row
	links rowstore.Column[arc]  // links of all sessions, one after the other
}

// node is a session without its requests.
type node struct {
	links    uint32 // number of links of earlier sessions
	requests int32  // requests of the session; after counting: of all sessions that it leads to
	place    uint32 // position among the conversations
	marks    nodeMark
}

// nodeMark holds flags of a session.
type nodeMark uint8

const (
	isStarted   nodeMark = 1 << iota // some session starts it
	isForked                         // some session forks it
	keepsArrays                      // its turns have whole message arrays
	hasSystem                        // its first turn has a system message
	isCounting
	isCounted
)

// arc is a link without its text.
type arc struct {
	to    uint32 // number of the name, later the row of the session
	turn  uint32
	join  uint32
	marks arcMark
}

// arcMark holds flags of a link.
type arcMark uint8

const (
	isFork   arcMark = 1 << iota
	cutsTurn         // a fork that is not in the last turn and does not run in the background
	isBefore
	isKnown // the target is in the file
)

// graph builds the startGraph of a file and checks it.
type graph struct {
	startGraph
	faults    *dataset.Faults
	rereadRow func(row int) entry // reads a session again, for error messages

	names      *rowstore.NameTable     // session ids seen
	rowOfName  rowstore.Column[uint32] // row of each name, plus 1; 0 = none so far
	duplicates [][2]int                // pairs of rows with the same name
}

func newGraph(faults *dataset.Faults, again func(row int) entry) *graph {
	return &graph{faults: faults, rereadRow: again, names: rowstore.NewNameTable()}
}

// number returns the number of a name.
func (g *graph) number(name string) uint32 {
	n, met := g.names.Number(name)
	if !met {
		g.rowOfName.Add(0)
	}
	return n
}

// add records the session of the next row.
func (g *graph) add(e *entry) {
	row := g.nodes.Len()
	if e.ID != "" {
		switch name := g.rowOfName.Ref(int(g.number(e.ID))); {
		case *name == 0:
			*name = uint32(row + 1)
		case len(g.duplicates) < maxDuplicates:
			g.duplicates = append(g.duplicates, [2]int{int(*name - 1), row})
		}
	}
	n := node{links: uint32(g.links.Len())}
	for k := range e.Turns {
		if !e.Turns[k].Silent {
			n.requests++
		}
	}
	if e.Mode == conversation.MessageArrayWithResponses {
		n.marks |= keepsArrays
	}
	for _, raw := range e.Turns[0].RawMessages {
		var m struct{ Role any }
		if json.Unmarshal(raw, &m) == nil && m.Role == "system" {
			n.marks |= hasSystem
		}
	}
	g.nodes.Add(n)
	for _, k := range e.links {
		a := arc{to: g.number(k.target), turn: uint32(k.turn), join: uint32(k.join)}
		if k.fork {
			a.marks |= isFork
		}
		if k.fork && !k.background && k.turn+1 < len(e.Turns) {
			a.marks |= cutsTurn
		}
		if k.before {
			a.marks |= isBefore
		}
		g.links.Add(a)
	}
}

// maxDuplicates is the maximum number of repeated names that are recorded. It is more than are shown.
const maxDuplicates = 100

// linksOf returns the range [first, last) of a session's links in the list of all.
func (w *startGraph) linksOf(row int) (first, last int) {
	first, last = int(w.nodes.Ref(row).links), w.links.Len()
	if next, ok := w.nodes.At(row + 1); ok {
		last = int(next.links)
	}
	return first, last
}

// started iterates over the conversations that a session starts.
func (w *startGraph) started(row int) iter.Seq[startedConversation] {
	return func(yield func(startedConversation) bool) {
		for i, last := w.linksOf(row); i < last; i++ {
			k := w.links.Ref(i)
			b := conversation.Branch{Conversation: dataset.Nth(int(w.nodes.Ref(int(k.to)).place), w.drawn), Fork: k.marks&isFork != 0, Join: int(k.join), Before: k.marks&isBefore != 0}
			if !yield(startedConversation{int(k.turn), b}) {
				return
			}
		}
	}
}

// order returns the rows of the sessions in their final order: first those that can be drawn, then those that others start. It returns nil after an
// error.
func (g *graph) order() []uint32 {
	for _, rows := range g.duplicates {
		first, other := g.rereadRow(rows[0]), g.rereadRow(rows[1])
		g.faults.Add(other.Turns[0].Origin, "session_id", "%q is used twice, first in %s", other.ID, first.Turns[0].Origin)
	}
	g.each(g.connect)
	g.names, g.rowOfName = nil, rowstore.Column[uint32]{}
	g.each(g.isolated)
	g.each(g.misplaced)
	if g.faults.Count() > 0 {
		return nil
	}
	for i := range g.nodes.Len() {
		if !g.count(i, nil) {
			return nil
		}
	}
	order := make([]uint32, 0, g.nodes.Len())
	for _, started := range []bool{false, true} {
		for i := range g.nodes.Len() {
			if n := g.nodes.Ref(i); n.marks&isStarted != 0 == started {
				n.place = uint32(len(order))
				order = append(order, uint32(i))
			}
		}
		if !started {
			g.drawn = len(order)
		}
	}
	return order
}

// startedCount returns the number of sessions that others start. It is valid after order.
func (w *startGraph) startedCount() int { return w.nodes.Len() - w.drawn }

// each calls f for every link, until there are too many errors. readLink reads the text of the link again.
func (g *graph) each(f func(k *arc, readLink func() link)) {
	for row := range g.nodes.Len() {
		first, last := g.linksOf(row)
		for i := first; i < last && !g.faults.Enough(); i++ {
			f(g.links.Ref(i), func() link { return g.rereadRow(row).links[i-first] })
		}
	}
}

// connect resolves the name of a link to its session.
func (g *graph) connect(k *arc, readLink func() link) {
	row, _ := g.rowOfName.At(int(k.to))
	if row == 0 {
		l := readLink()
		g.faults.Add(l.where, l.at, "the file has no session %q", l.target)
		return
	}
	k.to, k.marks = row-1, k.marks|isKnown
	n := g.nodes.Ref(int(k.to))
	n.marks |= isStarted
	if k.marks&isFork == 0 {
		return
	}
	if n.marks&isForked != 0 {
		l := readLink()
		g.faults.Add(l.where, l.at, "%q is also forked in %s; a fork can continue only one history", l.target, g.forkOf(k.to).where)
	}
	n.marks |= isForked
	if k.marks&cutsTurn != 0 {
		l := readLink()
		g.faults.Add(l.where, l.at, "%q: a session ends with its forks; move the fork to the last turn, or write {\"child\": …, \"background\": true} so that the session continues", l.target)
	}
}

// forkOf reads the first fork of a session.
func (g *graph) forkOf(row uint32) (found link) {
	for parent := range g.nodes.Len() {
		first, last := g.linksOf(parent)
		for i := first; i < last; i++ {
			if k := g.links.Ref(i); k.marks&(isFork|isKnown) == isFork|isKnown && k.to == row {
				return g.rereadRow(parent).links[i-first]
			}
		}
	}
	return found
}

// isolated reports forks that would lose the history that they continue.
func (g *graph) isolated(k *arc, readLink func() link) {
	if k.marks&isKnown == 0 {
		return
	}
	to := g.nodes.Ref(int(k.to)).marks
	if to&isForked != 0 && k.marks&isBefore != 0 {
		l := readLink()
		g.faults.Add(l.where, l.at, "%q is also forked: a session that starts before another one has no history to continue", l.target)
	}
	if k.marks&isFork != 0 && to&keepsArrays != 0 {
		l := readLink()
		g.faults.Add(l.where, l.at, "%q has context_mode %s, which drops the history that the fork would continue", l.target, conversation.MessageArrayWithResponses)
	}
}

// misplaced reports forks whose system message would follow other messages.
func (g *graph) misplaced(k *arc, readLink func() link) {
	if k.marks&(isKnown|isFork) != isKnown|isFork {
		return
	}
	if to := g.nodes.Ref(int(k.to)).marks; to&hasSystem != 0 && to&keepsArrays == 0 {
		l := readLink()
		g.faults.Add(l.where, l.at, "%q begins with a system message, which would come after the history that the fork continues", l.target)
	}
}

// count adds up the requests that a session leads to. way is the path of sessions to it; a repetition is a cycle. It returns false after an error.
func (g *graph) count(row int, way []int) bool {
	node := g.nodes.Ref(row)
	switch {
	case node.marks&isCounted != 0:
		return true
	case node.marks&isCounting != 0:
		var names []string
		for _, i := range append(way[slices.Index(way, row):], row) {
			names = append(names, g.rereadRow(i).ID)
		}
		g.faults.Add(g.rereadRow(row).Turns[0].Origin, "session_id", "sessions start each other in a cycle: %s", strings.Join(names, " -> "))
		return false
	}
	node.marks |= isCounting
	way = append(way, row)
	for i, last := g.linksOf(row); i < last; i++ {
		if len(way) > maxRequestsPerRoot {
			node.requests = maxRequestsPerRoot + 1
			break
		}
		to := int(g.links.Ref(i).to)
		if !g.count(to, way) {
			return false
		}
		node.requests = min(node.requests+g.nodes.Ref(to).requests, maxRequestsPerRoot+1)
	}
	if node.requests > maxRequestsPerRoot {
		e := g.rereadRow(row)
		g.faults.Add(e.Turns[0].Origin, "session_id", "%q leads to more than %d requests, counting the sessions that it starts", e.ID, maxRequestsPerRoot)
		return false
	}
	node.marks |= isCounted
	return true
}
