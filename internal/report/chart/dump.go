package chart

import (
	"encoding/json"
	"math"
)

// chartDump is the form of a chart in the dump.
type chartDump struct {
	File   string      `json:"file"`
	Title  string      `json:"title"`
	XTitle string      `json:"x_title"`
	YTitle string      `json:"y_title"`
	Y2     *string     `json:"y2_title,omitempty"`
	XType  Scale       `json:"x_type"`
	YType  Scale       `json:"y_type"`
	Traces []traceDump `json:"traces"`
}

type traceDump struct {
	Name   *string    `json:"name"`
	Type   string     `json:"type"`
	Mode   string     `json:"mode"`
	X      any        `json:"x"` // numbers, or texts for a category axis
	Y      any        `json:"y"`
	Axis   string     `json:"axis,omitempty"`
	Text   []string   `json:"text,omitempty"`
	ErrorX []*float64 `json:"error_x,omitempty"`
	ErrorY []*float64 `json:"error_y,omitempty"`
}

// Dump returns charts as JSON: a list with one object per chart, with unrounded values in the unit of the axis. ext is the extension of their image
// files.
func Dump(charts []*Chart, ext string) ([]byte, error) {
	list := make([]chartDump, 0, len(charts))
	for _, c := range charts {
		list = append(list, c.dump(ext))
	}
	text, err := json.MarshalIndent(list, "", " ")
	return append(text, '\n'), err
}

func (c *Chart) dump(ext string) chartDump {
	d := chartDump{File: c.Name + ext, Title: c.Title, XTitle: c.X.Title, YTitle: c.Y.Title, XType: c.X.Kind(), YType: c.Y.Kind(), Traces: []traceDump{}}
	if c.Subtitle != "" {
		d.Title += "\n" + c.Subtitle
	}
	if c.Y2 != nil {
		d.Y2 = &c.Y2.Title
	}
	for i := range c.Traces {
		t := &c.Traces[i]
		one := traceDump{Type: t.Kind, Mode: t.Mode, X: c.X.values(t.X), Y: c.Y.values(t.Y), Text: t.Text, ErrorX: numbers(t.ErrorX), ErrorY: numbers(t.ErrorY)}
		if t.Name != "" {
			one.Name = &t.Name
		}
		if t.Second {
			one.Axis = "y2"
		}
		d.Traces = append(d.Traces, one)
	}
	return d
}

// values returns positions on an axis as the dump writes them: labels for a category axis, else numbers.
func (a *Axis) values(v []float64) any {
	if a.Kind() != Category {
		return numbers(v)
	}
	texts := make([]string, len(v))
	for i, at := range v {
		if k := int(at); k >= 0 && k < len(a.Labels) {
			texts[i] = a.Labels[k]
		}
	}
	return texts
}

// numbers replaces NaN and infinity by null.
func numbers(v []float64) []*float64 {
	list := make([]*float64, len(v))
	for i := range v {
		if !math.IsNaN(v[i]) && !math.IsInf(v[i], 0) {
			list[i] = &v[i]
		}
	}
	return list
}
