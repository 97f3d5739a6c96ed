package rowstore

import (
	"math"
	"slices"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

func ms(v float64) *float64 { return &v }

// turnMarks marks turns with the role system as ones that can become the system message.
func turnMarks(t *conversation.Turn) Mark {
	if t.Role == "system" {
		return IsSystem | MayHoist
	}
	return 0
}

// newIndex returns an index of three rows: one turn, two turns of which the first is a system turn, and one turn.
func newIndex() *Index {
	x := &Index{Shift: 100}
	for i, turns := range [][]conversation.Turn{
		{{Timestamp: ms(100)}},
		{{Role: "system", Timestamp: ms(110)}, {Delay: ms(5)}},
		{{Delay: ms(7)}},
	} {
		x.AddRow(rows.Line{Path: "f", Number: i + 1, Offset: int64(10 * i)}, turns, turnMarks)
	}
	return x
}

func TestIndexOfTurns(t *testing.T) {
	x := newIndex()
	if x.RowCount() != 3 || x.Conversations() != 3 || x.FirstSlot(2) != 3 || x.FirstSlot(3) != 4 {
		t.Fatalf("%d rows, %d conversations, first slots %d and %d", x.RowCount(), x.Conversations(), x.FirstSlot(2), x.FirstSlot(3))
	}
	if at := x.Time(1); at == nil || *at != 10 {
		t.Errorf("time of slot 1: %v, want 10", at)
	}
	if x.Time(3) != nil || x.Delay(0) != nil || *x.Delay(2) != 5 || *x.Delay(3) != 7 {
		t.Errorf("time %v, delays %v %v %v", x.Time(3), x.Delay(0), x.Delay(2), x.Delay(3))
	}
	if got := x.Slots([]uint32{1, 2}); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("slots of rows 1 and 2: %v", got)
	}
	x.Hoist([]uint32{1})
	if got := x.Slots([]uint32{1, 2}); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("slots without the system message: %v", got)
	}
	if x.Hoist([]uint32{2}); x.Mark(3)&IsHoisted != 0 {
		t.Error("the only turn of a conversation became the system message")
	}
}

// TestMoveDelays checks that a delay after a turn becomes the delay before the next turn.
func TestMoveDelays(t *testing.T) {
	x := &Index{}
	for _, d := range []float64{1, 2, 3} {
		x.AddRow(rows.Line{Path: "f"}, []conversation.Turn{{Delay: ms(d)}}, turnMarks)
	}
	x.MoveDelays([]int{0, 1, 2})
	if x.Delay(0) != nil || *x.Delay(1) != 1 || *x.Delay(2) != 2 {
		t.Errorf("%v %v %v, want none, 1, 2", x.Delay(0), x.Delay(1), x.Delay(2))
	}
}

func TestGrouping(t *testing.T) {
	x := newIndex()
	x.Grouping = GroupRows(2, 3, func(row int) int { return row % 2 })
	if x.Conversations() != 2 || !slices.Equal(x.RowsOf(0), []uint32{0, 2}) || !slices.Equal(x.RowsOf(1), []uint32{1}) {
		t.Errorf("%d conversations: %v, %v", x.Conversations(), x.RowsOf(0), x.RowsOf(1))
	}
	root := rng.New(nil)
	if x.DefaultID(root, 0) == x.DefaultID(root, 1) {
		t.Error("two conversations have the same generated id")
	}
	x.Grouping.IDs, x.Grouping.Parts = []int64{7, 9}, []uint32{0, 3}
	if got := x.PartID(1, x.DefaultID(root, 1)); got != "9#3" {
		t.Errorf("id %q, want 9#3", got)
	}
	x.Grouping = EachRow([]uint32{2, 0, 1})
	if x.Conversations() != 3 || !slices.Equal(x.RowsOf(0), []uint32{2}) {
		t.Errorf("%d conversations, the first has rows %v", x.Conversations(), x.RowsOf(0))
	}
}

// TestOffsets checks that a run ends after 32 rows, after 64 KiB, at a skipped row and at another file.
func TestOffsets(t *testing.T) {
	var o Offsets
	for i := range 33 {
		o.Add(rows.Line{Path: "f", Number: i + 1, Offset: int64(i)})
	}
	o.Skip()
	o.Add(rows.Line{Path: "f", Number: 35, Offset: 34})
	o.Add(rows.Line{Path: "f", Number: 36, Offset: 34 + 64<<10})
	o.Add(rows.Line{Path: "g", Number: 1, Offset: 70 << 10})
	for row, want := range map[int]uint32{0: 0, 31: 0, 32: 32, 33: 33, 34: 34, 35: 35} {
		if got := o.Find(row); got.Row != want {
			t.Errorf("row %d: its run starts at row %d, want %d", row, got.Row, want)
		}
	}
	if o.Len() != 36 || o.Find(33).Line != 35 {
		t.Errorf("%d rows, row 33 on line %d", o.Len(), o.Find(33).Line)
	}
}

func TestColumnSet(t *testing.T) {
	var c Column[float64]
	c.Set(columnBlock+1, 4, math.NaN())
	if v, ok := c.At(columnBlock + 1); !ok || v != 4 || c.Len() != columnBlock+2 {
		t.Errorf("%v %v, length %d", v, ok, c.Len())
	}
	if v, ok := c.At(3); !ok || !math.IsNaN(v) {
		t.Errorf("a value that was never set: %v %v", v, ok)
	}
	if _, ok := c.At(columnBlock + 2); ok {
		t.Error("there is a value after the end")
	}
}
