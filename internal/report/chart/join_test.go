package chart

import (
	"encoding/json"
	"testing"
)

// TestJoined: short lines that look alike are one trace with gaps in a page, with the texts of their points; others stay as they are.
func TestJoined(t *testing.T) {
	line := func(name, colour string, unlisted bool, x ...float64) Trace {
		return Trace{Name: name, Kind: Scatter, Mode: Lines, X: x, Y: x, Unlisted: unlisted, Style: Style{Color: colour}}
	}
	second := line("a", "#1", true, 3, 4)
	second.Key = []string{"k3", "k4"}
	c := Chart{Traces: []Trace{line("a", "#1", false, 1, 2), line("b", "#2", false, 5, 6), second, line("a", "#1", true, 1, 2, 3), line("b", "#2", true, 7, 8)}}
	text, err := c.Web()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Traces []struct {
			Name     string
			Unlisted bool
			X        []*float64
			Key      []string
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Traces) != 3 {
		t.Fatalf("%s", text)
	}
	a := got.Traces[0]
	if len(a.X) != 5 || a.X[2] != nil || *a.X[3] != 3 || len(a.Key) != 5 || a.Key[3] != "k3" || a.Key[0] != "" || a.Unlisted {
		t.Errorf("%s", text)
	}
	if len(got.Traces[1].X) != 5 || len(got.Traces[2].X) != 3 || len(c.Traces[0].X) != 2 {
		t.Errorf("%s", text)
	}
}
