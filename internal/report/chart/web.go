package chart

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// Web returns a chart as JSON for the script of the pages. Values are rounded to seven digits, which is finer than a screen.
func (c *Chart) Web() ([]byte, error) {
	list, note := thinned(c.Traces)
	list = joined(list)
	notes := c.Notes
	if note != "" {
		notes = append(slices.Clone(notes), note)
	}
	traces := make([]webTrace, 0, len(list))
	for i := range list {
		t := &list[i]
		traces = append(traces, webTrace{
			Name: t.Name, Unlisted: t.Unlisted, Kind: t.Kind, Mode: t.Mode, X: roundedValues(t.X), Y: roundedValues(t.Y), Text: t.Text, ErrorX: roundedValues(t.ErrorX), ErrorY: roundedValues(t.ErrorY),
			Second: t.Second, Hover: t.Hover, Key: t.Key, Cell: t.Cell, Shade: roundedValues(t.Shade), Style: t.Style,
		})
	}
	return json.Marshal(struct {
		Name, Title, Subtitle, Description string
		X, Y                               Axis
		Y2                                 *Axis
		Traces                             []webTrace
		Legend                             []Entry
		Notes                              []string
	}{c.Name, c.Title, c.Subtitle, c.Description, c.X, c.Y, c.Y2, traces, c.Legend, notes})
}

type webTrace struct {
	Name           string
	Unlisted       bool `json:",omitempty"`
	Kind, Mode     string
	X, Y           roundedValues
	Text           []string      `json:",omitempty"`
	ErrorX, ErrorY roundedValues `json:",omitempty"`
	Second         bool          `json:",omitempty"`
	Hover, Key     []string      `json:",omitempty"`
	Cell           Cell          `json:",omitzero"`
	Shade          roundedValues `json:",omitempty"`
	Style
}

// roundedValues are numbers with seven digits; NaN and infinity become null.
type roundedValues []float64

// MarshalJSON implements json.Marshaler.
func (r roundedValues) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range r {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', 7, 64)
	}
	return append(out, ']'), nil
}
