package accuracy

import (
	"fmt"
	"strings"
)

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// subjectLine returns the line above multiple-choice questions about a subject, in the wording of the published MMLU prompts.
func subjectLine(subject string, cot bool) string {
	line := "The following are multiple choice questions (with answers) about " + subject + "."
	if cot {
		line += ` Think step by step and then output the answer in the format of "The answer is (X)" at the end.`
	}
	return line + "\n\n"
}

// lettered returns the options with their letters, each after a line break.
func lettered(options []string) string {
	var b strings.Builder
	for i, o := range options {
		fmt.Fprintf(&b, "\n%s. %s", letters[i:i+1], o)
	}
	return b.String()
}

// goldIndex returns the index of the correct option, from a column with its number or its letter.
func (r row) goldIndex(column string, options int) (int, error) {
	at := -1
	switch v := r.Row[column].(type) {
	case int64:
		at = int(v)
	case float64:
		at = int(v)
	case string:
		if len(v) == 1 {
			at = strings.Index(letters, v)
		}
	}
	if at < 0 || at >= options {
		return 0, fmt.Errorf("%s: column %s: must be the number or the letter of one of %d options, got %.40q", r.where, column, options, fmt.Sprint(r.Row[column]))
	}
	return at, nil
}
