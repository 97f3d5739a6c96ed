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
