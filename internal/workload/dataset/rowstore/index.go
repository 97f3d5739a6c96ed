// Package rowstore stores what a run needs of the rows that stay in their file: where each row begins, when its turns are sent, and which conversation
// it belongs to. It stores columns of numbers, so that a row takes a few bytes whatever its size. It reads no files.
package rowstore

import (
	"math"
	"strconv"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// Index stores what is known of each row without reading it again: where it begins, when its turns are sent, and which conversation it belongs to. A
// slot is a turn of a row. Rows and slots are numbered in the order of the file.
type Index struct {
	offsets Offsets
	slots   Column[uint32]  // first slot of each row, then the number of slots; empty = each row is one turn
	marks   Column[Mark]    // by slot
	Times   Column[float64] // by slot, ms; NaN = none; shorter = no further turn has one
	Delays  Column[float64] // by slot, ms, already scaled; NaN = none
	Models  Column[uint16]  // by slot; empty = there is only one model
	Lengths Column[uint32]  // drawn output lengths by slot; shorter = none drawn

	Grouping *Grouping // rows of each conversation; nil = each row is one
	Shift    float64   // ms; subtracted from all times, so that the trace starts at 0
}

// Mark holds flags of a turn.
type Mark uint8

// The flags of a turn.
const (
	HasModel  Mark = 1 << iota // the row names its model
	HasLength                  // the row states its output length
	IsBody                     // the body is sent unchanged
	IsSystem                   // a system turn
	MayHoist                   // a system turn that can become the system message
	IsHoisted                  // a system turn that became the system message
	IsSilent                   // no request is sent for the turn
)

// AddRow records the next row. markOf returns the flags of a turn.
func (x *Index) AddRow(at rows.Line, turns []conversation.Turn, markOf func(*conversation.Turn) Mark) {
	row := x.offsets.Len()
	if len(turns) > 1 && x.slots.Len() == 0 {
		for i := range row + 1 {
			x.slots.Add(uint32(i))
		}
	}
	first := x.FirstSlot(row)
	for k := range turns {
		t := &turns[k]
		x.marks.Add(markOf(t))
		note(&x.Times, t.Timestamp, first+k)
		note(&x.Delays, t.Delay, first+k)
	}
	if x.slots.Len() > 0 {
		x.slots.Add(uint32(first + len(turns)))
	}
	x.offsets.Add(at)
}

// SkipRow records that a row of the file is not in the index.
func (x *Index) SkipRow() { x.offsets.Skip() }

// RowCount returns the number of rows so far.
func (x *Index) RowCount() int { return x.offsets.Len() }

// Run returns the start of the run of a row.
func (x *Index) Run(row int) Run { return x.offsets.Find(row) }

// Conversations returns the number of conversations so far.
func (x *Index) Conversations() int {
	if x.Grouping != nil {
		return x.Grouping.Len()
	}
	return x.offsets.Len()
}

// RowsOf lists the rows of conversation i.
func (x *Index) RowsOf(i int) []uint32 {
	if m := x.Grouping; m != nil {
		return m.RowsOf(i)
	}
	return []uint32{uint32(i)}
}

// FirstSlot returns the number of turns before a row.
func (x *Index) FirstSlot(row int) int {
	if n, ok := x.slots.At(row); ok {
		return int(n)
	}
	return row
}

// Slots lists the turns of rows, without turns that became system messages.
func (x *Index) Slots(rows []uint32) []int {
	list := make([]int, 0, len(rows))
	for _, row := range rows {
		for slot := x.FirstSlot(int(row)); slot < x.FirstSlot(int(row)+1); slot++ {
			if x.Mark(slot)&IsHoisted == 0 {
				list = append(list, slot)
			}
		}
	}
	return list
}

// columnValue returns a value of a column; nil = none.
func columnValue(from *Column[float64], at int) *float64 {
	v, ok := from.At(at)
	if !ok || math.IsNaN(v) {
		return nil
	}
	return &v
}

// Time returns when a turn is sent, in ms; nil = no time.
func (x *Index) Time(slot int) *float64 {
	at := columnValue(&x.Times, slot)
	if at != nil {
		*at -= x.Shift
	}
	return at
}

// Delay returns the delay of a turn, in ms; nil = none.
func (x *Index) Delay(slot int) *float64 { return columnValue(&x.Delays, slot) }

// Mark returns the flags of a turn.
func (x *Index) Mark(slot int) Mark {
	m, _ := x.marks.At(slot)
	return m
}

// PartID returns the id of conversation i. It appends a number to id if the conversation is part of a session.
func (x *Index) PartID(i int, id string) string {
	if m := x.Grouping; m != nil && m.Parts != nil {
		return id + "#" + strconv.Itoa(int(m.Parts[i]))
	}
	return id
}

// DefaultID returns the id of conversation i if its rows have none.
func (x *Index) DefaultID(root *rng.Root, i int) string {
	if m := x.Grouping; m != nil {
		switch {
		case m.IDs != nil:
			return strconv.FormatInt(m.IDs[i], 10)
		case m.Unnamed != nil:
			i = int(m.Unnamed[i])
		}
	}
	return dataset.SessionID(root, i)
}

// Hoist marks a turn that becomes the system message of its conversation.
func (x *Index) Hoist(list []uint32) {
	slots := x.Slots(list)
	if len(slots) < 2 {
		return
	}
	if first := x.Mark(slots[0]); first&MayHoist != 0 && x.Mark(slots[1])&IsSystem == 0 {
		x.marks.Set(slots[0], first|IsHoisted, 0)
	}
}

// MoveDelays moves every delay to the next turn, because it is a wait after its own turn.
func (x *Index) MoveDelays(slots []int) {
	after := math.NaN()
	for _, slot := range slots {
		own, ok := x.Delays.At(slot)
		if !ok {
			own = math.NaN()
		}
		if ok || !math.IsNaN(after) {
			x.Delays.Set(slot, after, math.NaN())
		}
		after = own
	}
}

// note writes a value to a column; nil = none.
func note(to *Column[float64], value *float64, at int) {
	if value != nil {
		to.Set(at, *value, math.NaN())
	}
}
