package run

import (
	"aiperf/internal/dataset"
	"aiperf/internal/load"
)

// source shows the load generator what timing needs of a dataset: ids and instants, no texts.
type source struct {
	data     dataset.Dataset
	branches map[int]*load.Shape // of conversations that those under way start: in a graph several may start one
}

var _ load.Source = (*source)(nil)

// newSource shows a dataset, and that it grows if it does.
func newSource(d dataset.Dataset) load.Source {
	s := &source{data: d, branches: map[int]*load.Shape{}}
	if g, ok := d.(dataset.Growing); ok {
		return growing{s, g}
	}
	return s
}

// growing is a source of data that are read while they are used.
type growing struct {
	*source
	data dataset.Growing
}

// Has tells whether there is such a conversation. One that cannot be read is: its Shape is an error.
func (g growing) Has(i int) bool {
	ok, err := g.data.Reach(i)
	return ok || err != nil
}

// Ordered tells whether conversations start in the order in which they stand.
func (g growing) Ordered() bool { return g.data.Ordered() }

// Shape is that of the source, or why there is none.
func (g growing) Shape(i int) (load.Shape, error) {
	if ok, err := g.data.Reach(i); !ok {
		return load.Shape{}, err
	}
	return g.source.Shape(i)
}

func (s *source) Len() int { return s.data.Len() }

// Shape is called in the order in which conversations will be sent, well before they are: what takes long is begun here.
func (s *source) Shape(i int) (load.Shape, error) {
	clear(s.branches)
	return s.shape(i)
}

func (s *source) shape(i int) (load.Shape, error) {
	if d, ok := s.data.(dataset.Forethought); ok {
		d.Ahead(i)
	}
	timings := s.data.Timings(i)
	shape := load.Shape{ID: s.data.ID(i), Turns: make([]load.TurnTime, len(timings))}
	for k, t := range timings {
		shape.Turns[k] = load.TurnTime{Timestamp: t.Timestamp, Delay: t.Delay, Silent: t.Silent}
		for _, r := range t.After {
			shape.Turns[k].After = append(shape.Turns[k].After, load.TurnRef(r))
		}
		for _, b := range t.Branches {
			started, err := s.branch(b.Conversation)
			if err != nil {
				return shape, err
			}
			shape.Turns[k].Branches = append(shape.Turns[k].Branches, load.Branch{Conversation: b.Conversation, Shape: started, Fork: b.Fork, Join: b.Join, Before: b.Before})
		}
	}
	return shape, nil
}

// branch is the shape of a conversation that others start.
func (s *source) branch(i int) (*load.Shape, error) {
	if known := s.branches[i]; known != nil {
		return known, nil
	}
	shape, err := s.shape(i)
	s.branches[i] = &shape
	return &shape, err
}
