package load

import (
	"errors"
	"fmt"

	"aiperf/internal/base/rng"
)

// Random streams of the sampling orders.
const (
	randomStream  = "dataset.sampler.random"
	shuffleStream = "dataset.sampler.shuffle"
)

// newSampler returns a function that returns the indices of the conversations of a source in sampling order, without end.
func newSampler(order Sampling, source Source, root *rng.Root) (func() int, error) {
	growing, grows := source.(OpenEndedSource)
	if grows = grows && (order == Sequential || order == ""); grows && growing.Has(0) {
		next := -1
		return func() int {
			if next++; !growing.Has(next) {
				next = 0
			}
			return next
		}, nil
	}
	n := source.Len()
	if n == 0 {
		return nil, errors.New("the data set has no conversations")
	}
	switch order {
	case Sequential, "":
		next := -1
		return func() int {
			next = (next + 1) % n
			return next
		}, nil
	case Random:
		s := root.Stream(randomStream)
		return func() int { return s.Below(n) }, nil
	case Shuffle:
		s := root.Stream(shuffleStream).Numpy()
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		at := n
		return func() int {
			if at == n {
				s.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] }) // shuffle in place, starting from the last order
				at = 0
			}
			at++
			return list[at-1]
		}, nil
	}
	return nil, fmt.Errorf("sampling order %q: allowed are sequential, random, shuffle", order)
}
