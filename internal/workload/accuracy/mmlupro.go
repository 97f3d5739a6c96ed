package accuracy

import (
	"fmt"
	"slices"
	"strings"
)

// mmluProCategories are the tasks of MMLU-Pro.
var mmluProCategories = []string{"biology", "business", "chemistry", "computer science", "economics", "engineering", "health", "history", "law", "math", "philosophy", "physics", "psychology", "other"}

// thinkFirst asks for reasoning; it also replaces the reasoning of an example that has none.
const thinkFirst = "Let's think step by step."

// proBlock returns a question of MMLU-Pro followed by a text after "Answer:". Options that do not apply are omitted.
func proBlock(r row, answer string) (string, error) {
	question, err := r.text("question")
	if err != nil {
		return "", err
	}
	options, err := r.list("options")
	if err != nil {
		return "", err
	}
	options = slices.DeleteFunc(options, func(o string) bool { return o == "N/A" })
	if len(options) > len(letters) {
		return "", fmt.Errorf("%s: %d options", r.where, len(options))
	}
	listed := ""
	if len(options) > 0 {
		listed = lettered(options)[1:] + "\n"
	}
	return "Question: " + question + "\nOptions: " + listed + "Answer: " + answer + "\n\n", nil
}

// workedAnswer returns the text after "Answer:" of an example.
func (s *source) workedAnswer(r row) (string, error) {
	if !s.cot {
		return r.text("answer")
	}
	text, err := r.text("cot_content")
	if text == "" && err == nil {
		text = thinkFirst
	}
	return strings.TrimPrefix(text, "A: "), err
}

// mmluPro builds the prompts of TIGER-AI-Lab's own evaluation, in one message. The worked examples are the first of the category.
func mmluPro(s *source) (problems []Problem, err error) {
	shots := map[string][]string{}
	if s.shots > 0 {
		err = s.split("data/validation", func(r row) error {
			category, err := r.text("category")
			if err != nil || len(shots[category]) >= s.shots {
				return err
			}
			text, err := s.workedAnswer(r)
			if err != nil {
				return err
			}
			block, err := proBlock(r, text)
			shots[category] = append(shots[category], block)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	opening := ""
	if s.cot {
		opening = thinkFirst
	}
	err = s.split("data/test", func(r row) error {
		category, err := r.text("category")
		if err != nil || !slices.Contains(s.tasks, category) {
			return err
		}
		gold, err := r.text("answer")
		if err != nil {
			return err
		}
		asked, err := proBlock(r, opening)
		problems = append(problems, plain(category, gold, subjectLine(category, s.cot)+strings.Join(shots[category], "")+asked))
		return err
	})
	return problems, err
}
