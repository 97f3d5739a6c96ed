package accuracy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
)

// Category is the category of plug-ins that provide problems.
const Category = "accuracy_benchmark"

// external returns the benchmark of a plug-in. Its program runs while it loads the problems.
func external(e plugin.Entry) (*Benchmark, error) {
	text, err := json.Marshal(e.Metadata)
	var about struct {
		Grader    string   `json:"default_grader"`
		Shots     int      `json:"default_n_shots"`
		CoT       bool     `json:"default_enable_cot"`
		System    string   `json:"default_system_prompt"`
		MaxTokens int      `json:"max_tokens"`
		Stop      []string `json:"stop"`
	}
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s (%s): metadata: %w", e.ID(), e.Position(), err)
	case about.Grader == "":
		return nil, fmt.Errorf("%s (%s): metadata: default_grader is missing, the name of the grader of its answers", e.ID(), e.Position())
	case about.Shots < 0 || about.Shots > MaxShots:
		return nil, fmt.Errorf("%s (%s): metadata: default_n_shots is %d, but must be between 0 and %d", e.ID(), e.Position(), about.Shots, MaxShots)
	}
	return &Benchmark{Name: e.Name, Repo: e.Position(), Grader: about.Grader, Shots: about.Shots, CoT: about.CoT, System: about.System, Limit: about.MaxTokens,
		Stop: about.Stop, resolve: func(names []string) ([]string, error) { return names, nil },
		load: func(s *source) ([]Problem, error) { return s.external(&e) }}, nil
}

// problem is a problem as a plug-in sends it.
type problem struct {
	Prompt   *string         `json:"prompt"`
	Messages []message       `json:"messages"`
	Gold     *string         `json:"ground_truth"`
	Task     string          `json:"task"`
	Examples []message       `json:"few_shot_examples"`
	Metadata json.RawMessage `json:"metadata"`
}

type message struct{ Role, Content string }

// external lets the program of a plug-in load the problems.
func (s *source) external(e *plugin.Entry) (problems []Problem, err error) {
	p, err := program.Under(s.ctx, s.Log)(e, "load")
	if err != nil {
		return nil, err
	}
	tasks := s.tasks
	if tasks == nil {
		tasks = []string{}
	}
	system := s.bench.System
	if s.System != nil {
		system = *s.System
	}
	params := map[string]any{"tasks": tasks, "n_shots": s.shots, "enable_cot": s.cot, "system_prompt": system}
	err = p.Stream("load", params, func(part json.RawMessage) error {
		var list struct {
			Problems []problem `json:"problems"`
		}
		if err := json.Unmarshal(part, &list); err != nil || list.Problems == nil {
			return &program.Error{Plugin: e.ID(), Method: "load", Err: fmt.Errorf(`a part of the result has no array "problems" of the right form: %.200q`, part)}
		}
		for i := range list.Problems {
			one, err := list.Problems[i].build(e.Name)
			if err != nil {
				return &program.Error{Plugin: e.ID(), Method: "load", Err: fmt.Errorf("problems[%d]: %w", len(problems), err)}
			}
			problems = append(problems, one)
		}
		return nil
	})
	if end := p.Close(); err == nil {
		err = end
	}
	if err == nil && len(problems) == 0 {
		err = &program.Error{Plugin: e.ID(), Method: "load", Err: errors.New(`there are no problems: no part of the answer holds any ({"id":…,"part":{"problems":[…]}})`)}
	}
	return problems, err
}

// build checks a problem. The task of a problem without one is the name of the benchmark.
func (p *problem) build(benchmark string) (Problem, error) {
	switch {
	case p.Gold == nil:
		return Problem{}, errors.New(`"ground_truth" is missing`)
	case (p.Prompt == nil) == (len(p.Messages) == 0):
		return Problem{}, errors.New(`one of "prompt" and "messages" is needed`)
	}
	messages := p.Messages
	if p.Prompt != nil {
		messages = []message{{"user", *p.Prompt}}
	}
	messages = append(p.Examples[:len(p.Examples):len(p.Examples)], messages...)
	one := Problem{Task: p.Task, Gold: *p.Gold, Metadata: p.Metadata}
	if one.Task == "" {
		one.Task = benchmark
	}
	texts := make([]string, len(messages))
	for i, m := range messages {
		if m.Role == "" {
			return Problem{}, errors.New(`a message has no "role"`)
		}
		one.Turns, texts[i] = append(one.Turns, Message(m)), m.Content
	}
	one.Text = strings.Join(texts, "\n\n")
	return one, nil
}
