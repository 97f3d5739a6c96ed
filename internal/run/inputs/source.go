package inputs

import (
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// source gives the load generator what it needs of a dataset for timing: ids and instants, no texts.
type source struct {
	data     dataset.Dataset
	branches map[int]*load.Shape // shapes of conversations that the current one starts: in a graph, several turns may start the same one
}

var _ load.Source = (*source)(nil)

// NewSource returns the source of a dataset. It is open-ended if the dataset is.
func NewSource(d dataset.Dataset) load.Source {
	s := &source{data: d, branches: map[int]*load.Shape{}}
	if g, ok := d.(dataset.OpenEnded); ok {
		return openEndedSource{s, g}
	}
	return s
}

// openEndedSource is the source of data that are read during the run.
type openEndedSource struct {
	*source
	data dataset.OpenEnded
}

// Has reports whether conversation i exists. A conversation that cannot be read exists too: its Shape returns the error.
func (g openEndedSource) Has(i int) bool {
	ok, err := g.data.Reach(i)
	return ok || err != nil
}

// Ordered reports whether conversations start in the order of the data.
func (g openEndedSource) Ordered() bool { return g.data.Ordered() }

// Shape returns the shape of a conversation, or an error if it cannot be read.
func (g openEndedSource) Shape(i int) (load.Shape, error) {
	if ok, err := g.data.Reach(i); !ok {
		return load.Shape{}, err
	}
	return g.source.Shape(i)
}

func (s *source) Len() int { return s.data.Len() }

// Shape is called in the order in which conversations will be sent, well before that, so slow preparation starts here.
func (s *source) Shape(i int) (load.Shape, error) {
	clear(s.branches)
	return s.shape(i)
}

func (s *source) shape(i int) (load.Shape, error) {
	if d, ok := s.data.(dataset.Preparer); ok {
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

// branch returns the shape of a conversation that others start.
func (s *source) branch(i int) (*load.Shape, error) {
	if known := s.branches[i]; known != nil {
		return known, nil
	}
	shape, err := s.shape(i)
	s.branches[i] = &shape
	return &shape, err
}
