package dataset

import (
	"fmt"

	"aiperf/internal/rng"
)

// The strategies that give turns a model.
const (
	RoundRobin   = "round_robin"
	RandomModels = "random"
)

// Assignment says which model and which output length the turns get that name none.
type Assignment struct {
	Models   []string      // at least one
	Strategy string        // "" = RoundRobin
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
	if a.Strategy != "" && a.Strategy != RoundRobin && a.Strategy != RandomModels {
		return nil, fmt.Errorf("strategy of models %q: must be one of %s, %s", a.Strategy, RoundRobin, RandomModels)
	}
	return &Assigner{
		Assignment: a,
		models:     root.Stream("composer.turn.model_selection"),
		maxTokens:  root.Stream("composer.turn.max_tokens"),
	}, nil
}

// Model returns the index of the next turn's model.
func (a *Assigner) Model() int {
	if a.Strategy == RandomModels {
		return a.models.Below(len(a.Models))
	}
	n := a.turns % len(a.Models)
	a.turns++
	return n
}

// MaxTokens draws the output length of a turn that has none of its own; 0 = none is asked for.
func (a *Assigner) MaxTokens() int {
	if a.OSL == nil || a.OSL.Mean < 1 {
		return 0
	}
	return a.OSL.Draw(a.maxTokens)
}
