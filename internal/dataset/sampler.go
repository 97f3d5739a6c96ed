package dataset

import (
	"fmt"

	"aiperf/internal/rng"
)

// The sampling strategies.
const (
	Sequential = "sequential" // in the order of the dataset, again from the start at its end
	Random     = "random"     // uniform, with replacement
	Shuffle    = "shuffle"    // a permutation; shuffled again when it is used up
)

// Sampler says which conversation comes next. The scheduler owns it; it is not safe for concurrent use and never ends.
type Sampler struct {
	next func() int
}

// NewSampler returns the sampler of a strategy ("" is Sequential) over n conversations.
func NewSampler(strategy string, n int, root *rng.Root) (*Sampler, error) {
	if n < 1 {
		return nil, fmt.Errorf("the dataset has no conversations")
	}
	switch strategy {
	case Sequential, "":
		return &Sampler{next: sequential(n)}, nil
	case Random:
		stream := root.Stream("dataset.sampler.random")
		return &Sampler{next: func() int { return stream.Below(n) }}, nil
	case Shuffle:
		return &Sampler{next: shuffled(n, root.Stream("dataset.sampler.shuffle").Numpy())}, nil
	}
	return nil, fmt.Errorf("--dataset-sampling-strategy %q: must be one of %s, %s, %s", strategy, Sequential, Random, Shuffle)
}

// Next returns the index of the next conversation.
func (s *Sampler) Next() int { return s.next() }

func sequential(n int) func() int {
	i := -1
	return func() int {
		i++
		if i == n {
			i = 0
		}
		return i
	}
}

// shuffled shuffles the list in place each time, not from the original order.
func shuffled(n int, draws *rng.Numpy) func() int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	at := n
	return func() int {
		if at == n {
			draws.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
			at = 0
		}
		at++
		return order[at-1]
	}
}
