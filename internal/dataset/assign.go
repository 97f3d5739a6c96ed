package dataset

import (
	"fmt"
	"slices"

	"aiperf/internal/rng"
)

// The strategies that give turns a model.
const (
	RoundRobin   = "round_robin"
	RandomModels = "random"
	Weighted     = "weighted"
)

// Assignment says which model and which output length the turns get that name none.
type Assignment struct {
	Models   []string      // at least one
	Strategy string        // "" = RoundRobin
	Weights  []float64     // of Weighted: the share of each model, at least one above 0
	OSL      *Distribution // tokens; nil or a mean below 1 = no output length is asked for
}

// Assigner hands out models and output lengths in the order of the turns.
type Assigner struct {
	Assignment
	turns     int
	models    *rng.Stream
	maxTokens *rng.Stream
}

// NewAssigner checks the assignment and returns its assigner.
func NewAssigner(a Assignment, root *rng.Root) (*Assigner, error) {
	if len(a.Models) == 0 {
		return nil, fmt.Errorf("models: at least one model name is needed")
	}
	if !slices.Contains([]string{"", RoundRobin, RandomModels, Weighted}, a.Strategy) {
		return nil, fmt.Errorf("strategy of models %q: must be one of %s, %s, %s", a.Strategy, RoundRobin, RandomModels, Weighted)
	}
	if a.Strategy == Weighted && len(a.Weights) != len(a.Models) {
		return nil, fmt.Errorf("models: %d weights for %d models", len(a.Weights), len(a.Models))
	}
	return &Assigner{
		Assignment: a,
		models:     root.Stream("composer.turn.model_selection"),
		maxTokens:  root.Stream("composer.turn.max_tokens"),
	}, nil
}

// Model returns the index of the next turn's model.
func (a *Assigner) Model() int {
	switch a.Strategy {
	case RandomModels:
		return a.models.Below(len(a.Models))
	case Weighted:
		return a.weighted()
	}
	n := a.turns % len(a.Models)
	a.turns++
	return n
}

// Drawn reports whether the model of a turn is drawn, and does not follow from its place.
func (a *Assigner) Drawn() bool { return a.Strategy == RandomModels || a.Strategy == Weighted }

// weighted draws a model by its share of the sum of all, which need not be 1.
func (a *Assigner) weighted() int {
	sum, last := 0.0, 0
	for i, w := range a.Weights {
		if sum += w; w > 0 {
			last = i
		}
	}
	at := a.models.Float64() * sum
	for i, w := range a.Weights[:last] {
		if at -= w; at < 0 {
			return i
		}
	}
	return last
}

// MaxTokens draws the output length of a turn that has none of its own; 0 = none is asked for.
func (a *Assigner) MaxTokens() int {
	if a.OSL == nil || a.OSL.Mean < 1 {
		return 0
	}
	return a.OSL.Draw(a.maxTokens)
}
