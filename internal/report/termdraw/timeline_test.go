package termdraw

import (
	"math"
	"testing"
)

// TestZeros: a zero is not a gap; only a marked one is called wrong.
func TestZeros(t *testing.T) {
	values, wrong := []float64{4, 0, math.NaN(), 0, 0, 2}, []bool{false, false, true, true}
	paint := NewPaint(true, false, false)
	want := Row{}
	want.Put(Picture, "▇").Put(Faint, "·").Put(Picture, " ").Put(Bad, "×").Put(Faint, "·").Put(Picture, "▃")
	if got, want := (Rows{Lane(values, 4, true, wrong)}).String(paint), (Rows{want}).String(paint); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Lane(values, 4, false, wrong); got.Plain() != "▇    ▃" {
		t.Errorf("%q", got.Plain())
	}
	line := Timeline{Seconds: 1, Bins: 3, Series: []Series{
		{Name: "Requests/s", Zeros: true, Values: []float64{2, 0, 0}, Marks: []bool{false, false, true}}, {Name: "No answer", Marks: []bool{false, false, true}},
	}}
	rows := line.Draw(TimelineLabel+6, 2)
	for i, want := range []string{"▇▇    ", "██··××", "    ××"} {
		if got := []rune(rows[i].Plain()); string(got[TimelineLabel:]) != want {
			t.Errorf("row %d is %q, want %q", i, string(got[TimelineLabel:]), want)
		}
	}
}

// TestFit: lanes have as many rows as fit; without room for all, the extra series go first.
func TestFit(t *testing.T) {
	line := Timeline{Seconds: 1, Bins: 2, Series: []Series{
		{Name: "Requests/s", Values: []float64{1, 2}}, {Name: "TTFT p99", Values: []float64{1, 2}, Extra: true}, {Name: "In flight", Values: []float64{1, 2}, Low: true},
	}}
	for room, want := range map[int][2]int{20: {3, 3}, 9: {3, 3}, 8: {3, 2}, 7: {3, 2}, 6: {3, 1}, 5: {3, 1}, 4: {2, 1}, 3: {2, 0}} {
		got, rows := line.Fit(room)
		if len(got.Series) != want[0] || rows != want[1] {
			t.Errorf("in %d rows: %d series of %d rows, want %v", room, len(got.Series), rows, want)
		}
		if drawn := got.Draw(TimelineLabel+6, max(rows, 1)); rows > 0 && len(drawn) > room {
			t.Errorf("in %d rows: %d are drawn", room, len(drawn))
		}
	}
}
