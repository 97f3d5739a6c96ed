package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/processors"
	"aiperf/internal/workload/accuracy/pystring"
)

// Category is the category of plug-ins that grade answers.
const Category = "accuracy_grader"

// Question is an answer to judge.
type Question struct {
	Answer, Gold string
	Task         string          // "" = unknown
	Metadata     json.RawMessage // of the problem; nil = none
}

// external returns the grader of a plug-in. Start must be called before it judges.
func external(e plugin.Entry) *Grader { return &Grader{Name: e.Name, plugin: &e} }

// Start starts the program of a grader that is a plug-in; other graders need none. It runs once for each core at most, because a grader computes. The
// returned function ends it.
func (g *Grader) Start(ctx context.Context, log func(line string)) (stop func() error, err error) {
	if g.plugin == nil {
		return func() error { return nil }, nil
	}
	pool, err := program.NewPool(ctx, program.Of(g.plugin, log, "grade"), processors.Cores())
	if err != nil {
		return nil, err
	}
	g.pool = pool
	return pool.Close, nil
}

// Judge judges an answer. A grader that is a plug-in may fail: then there is no grade. Built-in graders return a grade in any case.
func (g *Grader) Judge(ctx context.Context, q Question) (Result, error) {
	if g.plugin == nil {
		return g.Grade(ctx, q.Answer, q.Gold), nil
	}
	text, note := withoutThinking(q.Answer)
	params := map[string]any{"response_text": text, "ground_truth": q.Gold, "task": q.Task, "metadata": map[string]any{}}
	if q.Metadata != nil {
		params["metadata"] = q.Metadata
	}
	var v verdict
	if err := g.pool.Call(ctx, "grade", params, &v); err != nil {
		return Result{}, err
	}
	r, err := v.result(q.Gold)
	if err != nil {
		return Result{}, &program.Error{Plugin: g.plugin.ID(), Method: "grade", Err: err}
	}
	if note != "" {
		r.Explanation = note + "; " + r.Explanation
	}
	return r, nil
}

// verdict is the result of grade.
type verdict struct {
	Correct    *bool    `json:"correct"`
	Unparsed   bool     `json:"unparsed"`
	Confidence *float64 `json:"confidence"`
	Reasoning  string   `json:"reasoning"`
	Extracted  string   `json:"extracted_answer"`
}

func (v *verdict) result(gold string) (Result, error) {
	switch {
	case v.Correct == nil:
		return Result{}, errors.New(`the result has no "correct"`)
	case v.Confidence != nil && !(*v.Confidence >= 0 && *v.Confidence <= 1):
		return Result{}, fmt.Errorf(`the result has %v for "confidence", but it must be between 0 and 1`, *v.Confidence)
	}
	r := Result{Passed: *v.Correct, Unparsed: v.Unparsed, Extracted: v.Extracted, Expected: pystring.Strip(gold), Explanation: v.Reasoning}
	switch {
	case v.Confidence != nil:
		r.Confidence = *v.Confidence
	case *v.Correct:
		r.Confidence = 1
	}
	return r, nil
}
