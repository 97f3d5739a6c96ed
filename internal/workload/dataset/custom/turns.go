package custom

import (
	"maps"
	"slices"
	"strings"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// sortedKeys lists the keys of a map for a message.
func sortedKeys[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// conversation returns the conversation with an id. It adds a new one if there is none.
func (l *loader) conversation(id string, places map[string]int) *conversation.Conversation {
	at, known := places[id]
	if !known {
		at = len(l.set.conversations)
		places[id] = at
		l.set.conversations = append(l.set.conversations, conversation.Conversation{ID: id})
	}
	return &l.set.conversations[at]
}

func (l *loader) sessionID(r *rows.Row) string {
	if id := r.String("session_id"); id != nil && *id != "" {
		return *id
	}
	return l.newID()
}

// checkType adds an error if a row names another format.
func checkType(r *rows.Row, want string) {
	if name := r.String("type"); name != nil && *name != want {
		r.Fault("type", "must be %q, got %q", want, *name)
	}
}

// readSingleTurn reads one request per row. Rows with the same session id are sent one after the other. Each request carries its whole history itself.
func readSingleTurn(l *loader, path string) error {
	places := map[string]int{}
	err := l.rows(path, turnKeys, func(r *rows.Row) {
		checkType(r, "single_turn")
		t := l.readTurn(r)
		if !l.Limits.Inside(t.Timestamp) {
			l.set.info.OutsideWindow++
			return
		}
		c := l.conversation(l.sessionID(r), places)
		c.Turns = append(c.Turns, t)
		if len(c.Turns) > 1 {
			c.Mode = conversation.MessageArrayWithResponses
		}
	})
	if l.StripKnown {
		for i := range l.set.conversations {
			stripKnown(l.set.conversations[i].Turns)
		}
	}
	return err
}

// stripKnown removes the content of images whose id an earlier turn has sent. A repetition within one turn keeps its content.
func stripKnown(turns []conversation.Turn) {
	sent := map[string]bool{}
	for i := range turns {
		var ids []string
		for k := range turns[i].Parts {
			p := &turns[i].Parts[k]
			switch {
			case p.Kind != conversation.Image || p.ID == "":
			case sent[p.ID]:
				p.Blob = nil
			default:
				ids = append(ids, p.ID)
			}
		}
		for _, id := range ids {
			sent[id] = true
		}
	}
}

// readMultiTurn reads one conversation per row. Rows with the same session id continue it.
func readMultiTurn(l *loader, path string) error {
	places := map[string]int{}
	err := l.rows(path, multiTurnKeys, func(r *rows.Row) {
		checkType(r, "multi_turn")
		turns := l.turns(r)
		if len(turns) > 0 && !l.Limits.Inside(turns[0].Timestamp) {
			l.set.info.OutsideWindow++
			return
		}
		c := l.conversation(l.sessionID(r), places)
		c.Turns = append(c.Turns, turns...)
	})
	if l.HoistSystem {
		for i := range l.set.conversations {
			liftSystemTurn(&l.set.conversations[i])
		}
	}
	return err
}

// multiTurnKeys are the keys of a multi_turn row.
var multiTurnKeys = []string{"type", "session_id", "turns"}

// ownID returns the session id of a row; "" = none.
func ownID(r *rows.Row) string {
	if id := r.String("session_id"); id != nil {
		return *id
	}
	return ""
}

// Layouts of the single_turn and multi_turn formats.
var (
	singleTurnLayout = layout{supply: openLines, keys: turnKeys, entry: singleTurn, join: joinSingle}
	multiTurnLayout  = layout{supply: openLines, keys: multiTurnKeys, entry: multiTurn, join: joinMulti, liftsSystem: true}
)

// singleTurn reads one single_turn row as a conversation.
func singleTurn(l *loader, r *rows.Row) entry {
	checkType(r, "single_turn")
	t := l.readTurn(r)
	return entry{Conversation: conversation.Conversation{ID: ownID(r), Turns: []conversation.Turn{t}}, skipped: l.outside(t.Timestamp)}
}

// multiTurn reads one multi_turn row as a conversation.
func multiTurn(l *loader, r *rows.Row) entry {
	checkType(r, "multi_turn")
	e := entry{Conversation: conversation.Conversation{ID: ownID(r), Turns: l.turns(r)}}
	e.skipped = len(e.Turns) == 0 || l.outside(e.Turns[0].Timestamp)
	return e
}

// joinSingle joins single_turn rows of one session. Each request carries its whole history itself.
func joinSingle(o *Options, c *conversation.Conversation) {
	if len(c.Turns) > 1 {
		c.Mode = conversation.MessageArrayWithResponses
	}
	if o.StripKnown {
		stripKnown(c.Turns)
	}
}

// joinMulti joins multi_turn rows of one session.
func joinMulti(o *Options, c *conversation.Conversation) {
	if o.HoistSystem {
		liftSystemTurn(c)
	}
}

// outside reports whether a time is outside the window of the schedule. It then counts the row.
func (l *loader) outside(timestamp *float64) bool {
	if l.Limits.Inside(timestamp) {
		return false
	}
	l.set.info.OutsideWindow++
	return true
}

// turns reads the turns of a multi_turn row.
func (l *loader) turns(r *rows.Row) []conversation.Turn {
	if !r.Has("turns") {
		r.Fault("turns", "missing")
		return nil
	}
	items := r.List("turns")
	if items != nil && len(items) == 0 {
		r.Fault("turns", "at least one turn is needed")
	}
	turns := make([]conversation.Turn, 0, len(items))
	for i, raw := range items {
		item := r.Item("turns", i, raw)
		if item == nil {
			continue
		}
		checkType(item, "single_turn")
		l.recordUnknownKeys(item, turnKeys)
		turns = append(turns, l.readTurn(item))
		if len(turns) == 1 && l.rowNo == 1 {
			l.set.info.FirstHasTime = turns[0].Timestamp != nil
		}
	}
	return turns
}

// liftSystemTurn turns a leading system turn with only texts into the system message of the conversation, so that it is not a separate request. It
// stays a turn if no turn follows it, or another system turn does.
func liftSystemTurn(c *conversation.Conversation) {
	if len(c.Turns) < 2 || c.Turns[1].Role == "system" {
		return
	}
	if text := liftable(&c.Turns[0]); text != "" {
		c.System = text
		c.Turns = c.Turns[1:]
	}
}

// liftable returns the text of a system turn that has nothing else; "" = another turn.
func liftable(t *conversation.Turn) string {
	if t.Role != "system" || t.Timestamp != nil || t.Delay != nil || t.MaxTokens != nil || t.ExtraBody != nil {
		return ""
	}
	if slices.ContainsFunc(t.Parts, func(p conversation.Part) bool { return p.Kind != conversation.Text }) {
		return ""
	}
	return strings.Join(t.Contents(), "\n")
}
