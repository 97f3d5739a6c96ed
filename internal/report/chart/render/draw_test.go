package render

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/canvas"
)

// TestTicks: round values within the ends, with thousands separators.
func TestTicks(t *testing.T) {
	texts := func(list []chart.Tick) string {
		var out []string
		for _, one := range list {
			out = append(out, one.Text)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{texts(round(0, 1, 5)), "0.0 0.2 0.4 0.6 0.8 1.0"},
		{texts(round(-12, 31000, 4)), "0 10,000 20,000 30,000"},
		{texts(round(-3, 3, 3)), "-2 0 2"},
		{texts(decades(0.5, 120)), "0.5 1 2 5 10 20 50 100"},
		{texts(decades(1, 1e6)), "1 10 100 1,000 10,000 100,000 1,000,000"},
		{figure(-1234567, 0), "-1,234,567"}, {figure(-0.0001, 2), "0.00"}, {figure(123456.5, 1), "123,456.5"}, {figure(-123, 0), "-123"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestPictures: whatever a chart holds, it is drawn: nothing, gaps, one point, infinities, huge values, both formats, both themes.
func TestPictures(t *testing.T) {
	testhome.Slow(t)
	style := chart.Style{Color: "#4c72b0", Width: 2, Size: 5, Filling: 0.2}
	line := func(x, y []float64) chart.Trace {
		return chart.Trace{Name: "a", Kind: chart.Scatter, Mode: chart.LinesMarkers, X: x, Y: y, Style: style}
	}
	bars := line([]float64{0, 1}, []float64{2, -1})
	bars.Kind = chart.Bar
	cells := line([]float64{1}, []float64{1})
	cells.Cell, cells.Shade, cells.Text = chart.Cell{Width: 1, Height: 1}, []float64{1}, []string{"9"}
	many := line(nil, nil)
	many.Shape, many.Fill, many.Second = "hv", chart.ToZero, true
	for i := range 20000 {
		many.X, many.Y = append(many.X, float64(i)), append(many.Y, math.Sin(float64(i)))
	}
	for name, traces := range map[string][]chart.Trace{
		"nothing": nil, "gap": {line([]float64{1, 2, 3}, []float64{1, math.NaN(), 3})}, "one": {line([]float64{5}, []float64{5})},
		"infinite": {line([]float64{1, 2}, []float64{math.Inf(1), 1e300})}, "bars": {bars}, "cells": {cells}, "many": {line([]float64{0}, []float64{1}), many},
	} {
		for _, kind := range []chart.Scale{chart.Linear, chart.Log} {
			c := &chart.Chart{Name: name, Title: name + " <&>", X: chart.Axis{Title: "x"}, Y: chart.Axis{Title: "y (ms)", Scale: kind, FromZero: kind == chart.Linear}, Y2: &chart.Axis{Title: "z"}, Traces: traces, Notes: []string{"note"}}
			data, err := PNG(c, chart.Themes["dark"], Size{Width: 400, Height: 300, Scale: 0.5})
			if err != nil {
				t.Fatal(name, err)
			}
			picture, err := png.Decode(bytes.NewReader(data))
			if err != nil || picture.Bounds().Dx() != 200 || picture.Bounds().Dy() != 150 {
				t.Errorf("%s: %v %v", name, err, picture.Bounds())
			}
			svg, err := SVG(c, chart.Themes["light"], Standard)
			if err != nil || !bytes.Contains(svg, []byte(name+" &lt;&amp;&gt;")) || bytes.Contains(svg, []byte("NaN")) {
				t.Errorf("%s: %v; a place that is no number, or a text that is markup", name, err)
			}
		}
	}
}

// TestThinned: of many points on one spot of x, the ends and the extremes stay.
func TestThinned(t *testing.T) {
	var line []canvas.Point
	for i := range 6000 {
		y := 0.0
		if i == 3001 {
			y = 50
		}
		line = append(line, canvas.Point{X: float64(i) / 1000, Y: y})
	}
	out := thinned(line)
	peak := false
	for _, p := range out {
		peak = peak || p.Y == 50
	}
	if len(out) > 100 || !peak || out[0] != line[0] || out[len(out)-1] != line[len(line)-1] {
		t.Errorf("%d points, peak %v", len(out), peak)
	}
}

// TestLettersOfSVG: a text says how long it is, by the font that places it, and names fonts of the same width.
func TestLettersOfSVG(t *testing.T) {
	c := &chart.Chart{Name: "a", Title: "iii <WWW>", X: chart.Axis{Title: "x"}, Y: chart.Axis{Title: "y"}}
	svg, err := SVG(c, chart.Themes["light"], Standard)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`<text[^>]*font-family:'Liberation Sans',Arimo,Arial[^>]*font-size:([0-9.]+)px[^>]*textLength="([0-9.]+)"[^>]*>([^<]*)</text>`).FindAllSubmatch(svg, -1)
	if len(all) != bytes.Count(svg, []byte("<text")) || len(all) < 5 {
		t.Fatalf("%d of %d texts", len(all), bytes.Count(svg, []byte("<text")))
	}
	for _, m := range all {
		if string(m[3]) != "iii &lt;WWW&gt;" {
			continue
		}
		size, long := 0.0, 0.0
		if _, err := fmt.Sscan(string(m[1])+" "+string(m[2]), &size, &long); err != nil {
			t.Fatal(err)
		}
		// of Liberation Sans Bold: i 0.278, space 0.278, < and > 0.584, W 0.944 of the size
		if want := size * (3*0.278 + 0.278 + 2*0.584 + 3*0.944); math.Abs(long-want) > want/100 {
			t.Errorf("%v long, want %v", long, want)
		}
		return
	}
	t.Error("no title")
}
