package accuracy

import (
	_ "embed" // for the prompts
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/programpages"
)

// The published prompts of BIG-Bench Hard (Suzgun and others, MIT licence), with and without reasoning, and DeepEval's closing sentences: JSON under zstd.
//
//go:embed data/bbh.json.zst
var packedPrompts string

// bbhPrompts are texts by task.
type bbhPrompts struct {
	Reasoning map[string]string `json:"cot"`
	Direct    map[string]string `json:"shot"`
	Closing   map[string]string `json:"closing"`
}

func readPrompts() (*bbhPrompts, error) {
	text, err := programpages.Decompress(packedPrompts)
	if err != nil {
		return nil, err
	}
	p := new(bbhPrompts)
	return p, json.Unmarshal(text, p)
}

// bbhTasks are the tasks in their default order.
var bbhTasks = strings.Fields(`boolean_expressions causal_judgement date_understanding disambiguation_qa dyck_languages formal_fallacies geometric_shapes
	hyperbaton logical_deduction_five_objects logical_deduction_seven_objects logical_deduction_three_objects movie_recommendation multistep_arithmetic_two
	navigate object_counting penguins_in_a_table reasoning_about_colored_objects ruin_names salient_translation_error_detection snarks
	sports_understanding temporal_sequences tracking_shuffled_objects_five_objects tracking_shuffled_objects_seven_objects
	tracking_shuffled_objects_three_objects web_of_lies word_sorting`)

// bbhTask returns the task with a name: exact, or entirely in upper case.
func bbhTask(name string) string {
	if task := strings.ToLower(name); slices.Contains(bbhTasks, task) {
		return task
	}
	return ""
}

// bigbench builds the prompts of DeepEval's template: the head of the task's published prompt with the given number of examples, the question, and a
// closing sentence.
func bigbench(s *source) (problems []Problem, err error) {
	published, err := readPrompts()
	if err != nil {
		return nil, fmt.Errorf("built-in prompts: %w", err)
	}
	prompts := published.Direct
	if s.cot {
		prompts = published.Reasoning
	}
	for _, task := range s.tasks {
		prompt, known := prompts[task]
		if !known {
			return nil, fmt.Errorf("%s: there is no built-in prompt", task)
		}
		parts := strings.Split(prompt, "\n\n")
		head := "Task description: " + strings.Join(parts[:min(len(parts), s.shots+1)], "\n\n") + "\n\n"
		err = s.split(task+"/test", func(r row) error {
			v, err := r.texts("input", "target")
			if err == nil {
				problems = append(problems, plain(task, v[1], head+"Q: "+v[0]+"\nA: "+published.Closing[task]))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return problems, nil
}
