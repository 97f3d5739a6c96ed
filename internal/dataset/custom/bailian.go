package custom

import (
	"fmt"
	"slices"
	"strconv"

	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
)

// BailianBlock is the number of tokens that a hash id of a bailian file stands for.
const BailianBlock = 16

// bailianKeys are the keys of a bailian row; others are ignored with a warning. type is the kind of request, not the format.
var bailianKeys = []string{"chat_id", "parent_chat_id", "timestamp", "input_length", "output_length", "type", "request_type", "turn", "hash_ids"}

// chat is a bailian row.
type chat struct {
	trace.Record
	id, parent int64
	turn       int // order in the session
}

// readBailian reads recorded traffic whose rows name the chat that they continue. Every request is whole in itself: its length counts what
// came before it.
func readBailian(l *loader, path string) error {
	var chats []chat
	raised, first := 0, ""
	err := l.rows(path, bailianKeys, func(r *rows.Row) {
		c := bailianChat(r)
		if n := c.OutputLength; n != nil && *n < 1 {
			if raised++; first == "" {
				first = r.Where
			}
			*n = 1
		}
		if l.Limits.Take(&c.Record, &l.set.info) {
			chats = append(chats, c)
		}
	})
	if raised > 0 {
		l.warn("%s: output_length 0 is sent as 1, in %d rows (first seen here)", first, raised)
	}
	if err != nil || l.faults.Count() > 0 {
		return err
	}
	roots := rootsOf(chats)
	slices.SortStableFunc(chats, func(a, b chat) int { return a.turn - b.turn })
	order := map[string]int{} // of the sessions, as they appear in the file
	for _, id := range roots {
		if _, known := order[id]; !known {
			order[id] = len(order)
		}
	}
	slices.SortStableFunc(chats, func(a, b chat) int { return order[a.Session] - order[b.Session] })
	records := make([]trace.Record, len(chats))
	for i := range chats {
		records[i] = chats[i].Record
	}
	return l.replay(records, BailianBlock)
}

// bailianChat reads a row.
func bailianChat(r *rows.Row) chat {
	c := chat{Record: trace.Record{Where: r.Where}, parent: -1, turn: 1}
	for _, key := range []string{"chat_id", "timestamp", "input_length", "output_length"} {
		if !r.Has(key) {
			r.Fault(key, "missing")
		}
	}
	if n := r.Int64("chat_id"); n != nil {
		c.id = *n
	}
	if n := r.Int64("parent_chat_id"); n != nil {
		c.parent = *n
	}
	if s := r.Number("timestamp"); s != nil {
		ms := *s * 1000
		c.Timestamp = &ms
	}
	if n := r.Int("input_length", 1); n != nil {
		if c.InputLength = *n; *n > trace.MaxInput {
			r.Fault("input_length", "must be at most %d tokens, got %d", trace.MaxInput, *n)
		}
	}
	c.OutputLength = r.Int("output_length", 0)
	if n := r.Int("turn", 0); n != nil {
		c.turn = *n
	}
	if r.Has("hash_ids") {
		c.HashIDs = r.Ints("hash_ids")
	}
	return c
}

// rootsOf gives every chat the session of the chat that its line of parents begins with, and lists these ids by chat. A line ends at
// a parent that is -1, missing or part of the line already.
func rootsOf(chats []chat) []string {
	at := make(map[int64]int, len(chats))
	for i := range chats {
		at[chats[i].id] = i
	}
	known := make(map[int64]int64, len(chats))
	ids := make([]string, len(chats))
	for i := range chats {
		root := rootOf(chats, at, known, i)
		ids[i] = strconv.FormatInt(root, 10)
		chats[i].Session = ids[i]
	}
	return ids
}

func rootOf(chats []chat, at map[int64]int, known map[int64]int64, i int) int64 {
	root := chats[i].id
	line := map[int64]bool{}
	for {
		if r, ok := known[root]; ok {
			root = r
			break
		}
		line[root] = true
		c := &chats[i]
		next, exists := at[c.parent]
		if c.parent == -1 || !exists {
			break
		}
		if line[c.parent] { // a ring has no beginning: each sees its own
			return root
		}
		root, i = c.parent, next
	}
	for id := range line {
		known[id] = root
	}
	return root
}

// warn keeps a line that the user should read.
func (l *loader) warn(format string, args ...any) {
	l.set.info.Warnings = append(l.set.info.Warnings, fmt.Sprintf(format, args...))
}
