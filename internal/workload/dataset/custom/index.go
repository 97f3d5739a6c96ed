package custom

import (
	"math"
	"strconv"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// index stores what is known of each row without reading it again: where it begins, when its turns are sent, and which conversation it belongs to. A
// slot is a turn of a row. Rows and slots are numbered in the order of the file.
type index struct {
	places  rowOffsets
	slots   column[uint32]  // first slot of each row, then the number of slots; empty = each row is one turn
	marks   column[mark]    // by slot
	times   column[float64] // by slot, ms; NaN = none; shorter = no further turn has one
	delays  column[float64] // by slot, ms, already scaled; NaN = none
	models  column[uint16]  // by slot; empty = there is only one model
	lengths column[uint32]  // drawn output lengths by slot; shorter = none drawn

	members *membership // rows of each conversation; nil = each row is one
	shift   float64     // ms; subtracted from all times, so that the trace starts at 0
}

// mark holds flags of a turn.
type mark uint8

const (
	hasModel  mark = 1 << iota // the row names its model
	hasLength                  // the row states its output length
	isBody                     // the body is sent unchanged
	isSystem                   // a system turn
	mayLift                    // a system turn that can become the system message
	isLifted                   // a system turn that became the system message
	isSilent
)

// addRow records the next row. markOf returns the flags of a turn.
func (x *index) addRow(at rows.Line, turns []conversation.Turn, markOf func(*conversation.Turn) mark) {
	row := x.places.len()
	if len(turns) > 1 && x.slots.len() == 0 {
		for i := range row + 1 {
			x.slots.add(uint32(i))
		}
	}
	first := x.firstSlot(row)
	for k := range turns {
		t := &turns[k]
		x.marks.add(markOf(t))
		note(&x.times, t.Timestamp, first+k)
		note(&x.delays, t.Delay, first+k)
	}
	if x.slots.len() > 0 {
		x.slots.add(uint32(first + len(turns)))
	}
	x.places.add(at)
}

// skipRow records that a row of the file is not in the index.
func (x *index) skipRow() { x.places.skip() }

// rowCount returns the number of rows so far.
func (x *index) rowCount() int { return x.places.len() }

// run returns the start of the run of a row.
func (x *index) run(row int) run { return x.places.find(row) }

// conversations returns the number of conversations so far.
func (x *index) conversations() int {
	if x.members != nil {
		return x.members.len()
	}
	return x.places.len()
}

// rowsOf lists the rows of conversation i.
func (x *index) rowsOf(i int) []uint32 {
	if m := x.members; m != nil {
		return m.rowsOf(i)
	}
	return []uint32{uint32(i)}
}

// firstSlot returns the number of turns before a row.
func (x *index) firstSlot(row int) int {
	if n, ok := x.slots.at(row); ok {
		return int(n)
	}
	return row
}

// slotsOf lists the turns of rows, without turns that became system messages.
func (x *index) slotsOf(rows []uint32) []int {
	list := make([]int, 0, len(rows))
	for _, row := range rows {
		for slot := x.firstSlot(int(row)); slot < x.firstSlot(int(row)+1); slot++ {
			if x.mark(slot)&isLifted == 0 {
				list = append(list, slot)
			}
		}
	}
	return list
}

// columnValue returns a value of a column; nil = none.
func columnValue(from *column[float64], at int) *float64 {
	v, ok := from.at(at)
	if !ok || math.IsNaN(v) {
		return nil
	}
	return &v
}

// time returns when a turn is sent, in ms; nil = no time.
func (x *index) time(slot int) *float64 {
	at := columnValue(&x.times, slot)
	if at != nil {
		*at -= x.shift
	}
	return at
}

// delay returns the delay of a turn, in ms; nil = none.
func (x *index) delay(slot int) *float64 { return columnValue(&x.delays, slot) }

// mark returns the flags of a turn.
func (x *index) mark(slot int) mark {
	m, _ := x.marks.at(slot)
	return m
}

// part returns the id of conversation i. It appends a number to id if the conversation is part of a session.
func (x *index) part(i int, id string) string {
	if m := x.members; m != nil && m.parts != nil {
		return id + "#" + strconv.Itoa(int(m.parts[i]))
	}
	return id
}

// givenID returns the id of conversation i if its rows have none.
func (x *index) givenID(root *rng.Root, i int) string {
	if m := x.members; m != nil {
		switch {
		case m.ids != nil:
			return strconv.FormatInt(m.ids[i], 10)
		case m.bare != nil:
			i = int(m.bare[i])
		}
	}
	return dataset.SessionID(root, i)
}

// lift marks a turn that becomes the system message of its conversation.
func (x *index) lift(list []uint32) {
	slots := x.slotsOf(list)
	if len(slots) < 2 {
		return
	}
	if first := x.mark(slots[0]); first&mayLift != 0 && x.mark(slots[1])&isSystem == 0 {
		x.marks.set(slots[0], first|isLifted, 0)
	}
}

// delayNext moves every delay to the next turn, because it is a wait after its own turn.
func (x *index) delayNext(slots []int) {
	after := math.NaN()
	for _, slot := range slots {
		own, ok := x.delays.at(slot)
		if !ok {
			own = math.NaN()
		}
		if ok || !math.IsNaN(after) {
			x.delays.set(slot, after, math.NaN())
		}
		after = own
	}
}

// note writes a value to a column; nil = none.
func note(to *column[float64], value *float64, at int) {
	if value != nil {
		to.set(at, *value, math.NaN())
	}
}
