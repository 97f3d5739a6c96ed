package chart

import (
	"encoding/json"
	"math"
)

// dumped is a chart as the dump has it.
type dumped struct {
	File   string        `json:"file"`
	Title  string        `json:"title"`
	XTitle string        `json:"x_title"`
	YTitle string        `json:"y_title"`
	Y2     *string       `json:"y2_title,omitempty"`
	XType  Scale         `json:"x_type"`
	YType  Scale         `json:"y_type"`
	Traces []dumpedTrace `json:"traces"`
}

type dumpedTrace struct {
	Name   *string    `json:"name"`
	Type   string     `json:"type"`
	Mode   string     `json:"mode"`
	X      any        `json:"x"` // numbers, or texts of a category axis
	Y      any        `json:"y"`
	Axis   string     `json:"axis,omitempty"`
	Text   []string   `json:"text,omitempty"`
	ErrorX []*float64 `json:"error_x,omitempty"`
	ErrorY []*float64 `json:"error_y,omitempty"`
}

// Dump is charts as JSON: a list, one object a chart, values unrounded in the unit of the axis. ext is the ending of the files they are in.
func Dump(charts []*Chart, ext string) ([]byte, error) {
	list := make([]dumped, 0, len(charts))
	for _, c := range charts {
		list = append(list, c.dump(ext))
	}
	text, err := json.MarshalIndent(list, "", " ")
	return append(text, '\n'), err
}

func (c *Chart) dump(ext string) dumped {
	d := dumped{File: c.Name + ext, Title: c.Title, XTitle: c.X.Title, YTitle: c.Y.Title, XType: c.X.Kind(), YType: c.Y.Kind(), Traces: []dumpedTrace{}}
	if c.Subtitle != "" {
		d.Title += "\n" + c.Subtitle
	}
	if c.Y2 != nil {
		d.Y2 = &c.Y2.Title
	}
	for i := range c.Traces {
		t := &c.Traces[i]
		one := dumpedTrace{Type: t.Kind, Mode: t.Mode, X: c.X.values(t.X), Y: c.Y.values(t.Y), Text: t.Text, ErrorX: numbers(t.ErrorX), ErrorY: numbers(t.ErrorY)}
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

// values are the places of an axis as the dump has them: the words of a category axis, else numbers.
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

// numbers are values with null for what is no number.
func numbers(v []float64) []*float64 {
	list := make([]*float64, len(v))
	for i := range v {
		if !math.IsNaN(v[i]) && !math.IsInf(v[i], 0) {
			list[i] = &v[i]
		}
	}
	return list
}
