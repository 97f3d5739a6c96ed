package run

import (
	"aiperf/internal/dataset"
	"aiperf/internal/load"
)

// source shows the load generator what timing needs of a dataset: ids and instants, no texts.
type source struct{ data dataset.Dataset }

var _ load.Source = source{}

func (s source) Len() int { return s.data.Len() }

func (s source) Shape(i int) (load.Shape, error) {
	timings := s.data.Timings(i)
	shape := load.Shape{ID: s.data.ID(i), Turns: make([]load.TurnTime, len(timings))}
	for k, t := range timings {
		shape.Turns[k] = load.TurnTime{Timestamp: t.Timestamp, Delay: t.Delay}
	}
	return shape, nil
}
