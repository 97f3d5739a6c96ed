package custom

import "slices"

// membership lists the rows of each conversation.
type membership struct {
	rows  []uint32 // rows of all conversations, one after the other
	first []uint32 // index in rows of each conversation's first row, then len(rows)
	ids   []int64  // ids of the conversations if rows have none; nil = ids come from the rows or are generated
	bare  []uint32 // for each conversation: number of earlier ones without an id; nil = all have an id or none has
	parts []uint32 // number appended to the id of each conversation that is part of a session; nil = none is
}

// len returns the number of conversations.
func (m *membership) len() int { return len(m.first) - 1 }

// rowsOf lists the rows of conversation i.
func (m *membership) rowsOf(i int) []uint32 { return m.rows[m.first[i]:m.first[i+1]] }

// groups lists rows by their conversation, in file order within each.
func groups(conversations, all int, of func(row int) int) *membership {
	m := &membership{rows: make([]uint32, all), first: make([]uint32, conversations+1)}
	for row := range all {
		m.first[of(row)+1]++
	}
	for i := range conversations {
		m.first[i+1] += m.first[i]
	}
	next := slices.Clone(m.first)
	for row := range all {
		at := &next[of(row)]
		m.rows[*at] = uint32(row)
		*at++
	}
	return m
}

// each makes every row a conversation, in the given order.
func each(order []uint32) *membership {
	m := &membership{rows: order, first: make([]uint32, len(order)+1)}
	for i := range m.first {
		m.first[i] = uint32(i)
	}
	return m
}
