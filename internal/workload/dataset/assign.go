package dataset

import (
	"fmt"
	"slices"

	"aiperf/internal/base/rng"
)

// Strategies that choose the model of each turn.
const (
	RoundRobin   = "round_robin"
	RandomModels = "random"
	Weighted     = "weighted"
)

// Assignment sets the model and the output length of turns that name none themselves.
type Assignment struct {
	Models   []string      // at least one
	Strategy string        // "" = RoundRobin
	Weights  []float64     // for Weighted: the share of each model, at least one above 0
	OSL      *Distribution // tokens; nil or a mean below 1 = the request asks for no output length
}

// Assigner chooses models and output lengths, turn after turn.
type Assigner struct {
	Assignment
	turns     int
	models    *rng.Stream
	maxTokens *rng.Stream
}

// NewAssigner checks the assignment and returns an assigner for it.
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

// Drawn reports whether the model of a turn is drawn at random. Otherwise it follows from the position of the turn.
func (a *Assigner) Drawn() bool { return a.Strategy == RandomModels || a.Strategy == Weighted }

// weighted draws a model by its weight. The weights need not add up to 1.
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

// MaxTokens draws the output length of a turn that names none. It returns 0 if the request asks for no output length.
func (a *Assigner) MaxTokens() int {
	if a.OSL == nil || a.OSL.Mean < 1 {
		return 0
	}
	return a.OSL.Draw(a.maxTokens)
}
