package rowstore

import "slices"

// Grouping lists the rows of each conversation.
type Grouping struct {
	Rows    []uint32 // rows of all conversations, one after the other
	first   []uint32 // index in rows of each conversation's first row, then len(rows)
	IDs     []int64  // ids of the conversations if rows have none; nil = ids come from the rows or are generated
	Unnamed []uint32 // for each conversation: number of earlier ones without an id; nil = all have an id or none has
	Parts   []uint32 // number appended to the id of each conversation that is part of a session; nil = none is
}

// Len returns the number of conversations.
func (m *Grouping) Len() int { return len(m.first) - 1 }

// RowsOf lists the rows of conversation i.
func (m *Grouping) RowsOf(i int) []uint32 { return m.Rows[m.first[i]:m.first[i+1]] }

// GroupRows lists rows by their conversation, in file order within each.
func GroupRows(conversations, all int, of func(row int) int) *Grouping {
	m := &Grouping{Rows: make([]uint32, all), first: make([]uint32, conversations+1)}
	for row := range all {
		m.first[of(row)+1]++
	}
	for i := range conversations {
		m.first[i+1] += m.first[i]
	}
	next := slices.Clone(m.first)
	for row := range all {
		at := &next[of(row)]
		m.Rows[*at] = uint32(row)
		*at++
	}
	return m
}

// EachRow makes every row a conversation, in the given order.
func EachRow(order []uint32) *Grouping {
	m := &Grouping{Rows: order, first: make([]uint32, len(order)+1)}
	for i := range m.first {
		m.first[i] = uint32(i)
	}
	return m
}
