package custom

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/trace"
)

// BailianBlock is the number of tokens per hash id in a bailian file.
const BailianBlock = 16

// bailianKeys are the keys of a bailian row. Other keys are ignored with a warning. The key type is the kind of request, not the format.
var bailianKeys = []string{"chat_id", "parent_chat_id", "timestamp", "input_length", "output_length", "type", "request_type", "turn", "hash_ids"}

// chat links a bailian row to the chat that it continues.
type chat struct {
	id, parent int64
	turn       int32 // order in the session
}

// chatRecord is a row of a bailian file.
type chatRecord struct {
	trace.Record
	chat
}

// readBailian reads recorded traffic whose rows name the chat that they continue. Every request carries its whole history: its input length includes
// the earlier turns.
func readBailian(l *loader, path string) error {
	var records []trace.Record
	g := &chatGrouper{}
	err := l.rows(path, bailianKeys, func(r *rows.Row) {
		c := l.raisedChat(r)
		if l.Limits.Take(&c.Record, &l.set.info) {
			records = append(records, c.Record)
			g.chats.Add(c.chat)
		}
	})
	l.warnRaised()
	if err != nil || l.faults.Count() > 0 {
		return err
	}
	m := g.order()
	ordered := make([]trace.Record, 0, len(records))
	for i, id := range m.IDs {
		for _, row := range m.RowsOf(i) {
			rec := records[row]
			rec.Session = strconv.FormatInt(id, 10)
			ordered = append(ordered, rec)
		}
	}
	return l.replay(ordered, BailianBlock)
}

var bailianLayout = layout{supply: openLines, keys: bailianKeys, entry: bailianEntry, gather: func() grouper { return &chatGrouper{} }}

// bailianEntry reads one row as a conversation.
func bailianEntry(l *loader, r *rows.Row) entry {
	c := l.raisedChat(r)
	e := l.recordEntry(c.Record, BailianBlock)
	e.chat = c.chat
	return e
}

// raisedChat reads a row. It raises an output length of 0 to 1 and counts it.
func (l *loader) raisedChat(r *rows.Row) chatRecord {
	c := bailianChat(r)
	if n := c.OutputLength; n != nil && *n < 1 {
		if l.raisedOutputs++; l.raisedAt == "" {
			l.raisedAt = r.Where
		}
		*n = 1
	}
	return c
}

// warnRaised warns of raised output lengths.
func (l *loader) warnRaised() {
	if l.raisedOutputs > 0 {
		l.warn("%s: output_length 0 is sent as 1; this affects %d rows, this is the first", l.raisedAt, l.raisedOutputs)
	}
}

// chatGrouper groups rows into sessions by the first ancestor of their chats.
type chatGrouper struct{ chats rowstore.Column[chat] }

func (g *chatGrouper) note(_ *loader, _ int, e *entry) { g.chats.Add(e.chat) }

func (g *chatGrouper) done(_ *indexed, l *loader) *rowstore.Grouping {
	l.warnRaised()
	return g.order()
}

// order lists the sessions in the order of their first rows. The rows of a session are sorted by turn.
func (g *chatGrouper) order() *rowstore.Grouping {
	sessions := map[int64]int{}
	var ids []int64
	of := make([]uint32, g.chats.Len())
	for row, root := range g.roots() {
		at, known := sessions[root]
		if !known {
			at = len(ids)
			sessions[root] = at
			ids = append(ids, root)
		}
		of[row] = uint32(at)
	}
	m := rowstore.GroupRows(len(ids), g.chats.Len(), func(row int) int { return int(of[row]) })
	m.IDs = ids
	turn := func(row uint32) int32 { c, _ := g.chats.At(int(row)); return c.turn }
	for i := range ids {
		slices.SortStableFunc(m.RowsOf(i), func(a, b uint32) int { return cmp.Compare(turn(a), turn(b)) })
	}
	return m
}

// roots returns the first ancestor of every row's chat. The search ends at a parent that is -1, missing or already visited.
func (g *chatGrouper) roots() []int64 {
	f := &family{chats: &g.chats, rows: make([]uint32, g.chats.Len())}
	for row := range f.rows {
		f.rows[row] = uint32(row)
	}
	slices.SortStableFunc(f.rows, func(a, b uint32) int { return cmp.Compare(f.id(a), f.id(b)) })
	f.known, f.root = make([]bool, len(f.rows)), make([]int64, len(f.rows))
	roots := make([]int64, g.chats.Len())
	for row := range roots {
		roots[row] = f.rootOf(uint32(row))
	}
	return roots
}

// family finds chats by their ids.
type family struct {
	chats *rowstore.Column[chat]
	rows  []uint32 // sorted by id; of rows with the same id the last one is the chat
	known []bool   // by index in rows
	root  []int64  // root of each known chat
}

func (f *family) id(row uint32) int64 { c, _ := f.chats.At(int(row)); return c.id }

// place returns the index of a chat in rows.
func (f *family) place(id int64) (at int, ok bool) {
	at = sort.Search(len(f.rows), func(i int) bool { return f.id(f.rows[i]) > id }) - 1
	return at, at >= 0 && f.id(f.rows[at]) == id
}

func (f *family) rootOf(row uint32) int64 {
	var line []int // indexes of the chats on the way to the root
	seen := map[int64]bool{}
	c, _ := f.chats.At(int(row))
	root := c.id
	for {
		at, _ := f.place(root)
		if f.known[at] {
			root = f.root[at]
			break
		}
		line = append(line, at)
		if c.parent == -1 {
			break
		}
		next, exists := f.place(c.parent)
		if !exists {
			break
		}
		seen[root] = true
		if seen[c.parent] { // a cycle has no first chat: each row keeps its own ancestor
			return root
		}
		root = c.parent
		c, _ = f.chats.At(int(f.rows[next]))
	}
	for _, at := range line {
		f.known[at], f.root[at] = true, root
	}
	return root
}

// bailianChat reads a row.
func bailianChat(r *rows.Row) chatRecord {
	c := chatRecord{trace.Record{Where: r.Where}, chat{parent: -1, turn: 1}}
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
		c.turn = int32(*n)
	}
	if r.Has("hash_ids") {
		c.HashIDs = r.Ints("hash_ids")
	}
	return c
}

// warn adds a warning for the user.
func (l *loader) warn(format string, args ...any) {
	l.set.info.Warnings = append(l.set.info.Warnings, fmt.Sprintf(format, args...))
}
