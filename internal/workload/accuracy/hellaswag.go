package accuracy

import (
	_ "embed" // for the embedded labels
	"fmt"
	"strings"
)

//go:embed data/hellaswag_tasks.tsv
var hellaswagTasks string

// activityList holds the activity labels of HellaSwag in the order of the published template.
type activityList struct {
	labels []string
	byName map[string]string // lower-case label or name -> label
}

var activities = readActivities(hellaswagTasks)

func readActivities(text string) activityList {
	a := activityList{byName: map[string]string{}}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		name, label, _ := strings.Cut(line, "\t")
		a.labels = append(a.labels, label)
		a.byName[strings.ToLower(label)] = label
		if lower := strings.ToLower(name); a.byName[lower] == "" {
			a.byName[lower] = label
		}
	}
	return a
}

// find returns the label for a name: the label itself or its name in upper snake case; case does not matter.
func (a activityList) find(name string) string { return a.byName[strings.ToLower(name)] }

// hellaswagClosing describes the format of the answer.
const hellaswagClosing = "\n\nOutput 'A', 'B', 'C', or 'D'. Full answer not needed."

// activityRow is the beginning of a text with its possible endings.
type activityRow struct {
	prompt string
	gold   string // "" = the row has none
}

func (s *source) activities(stem string, each func(label string, a activityRow)) error {
	return s.split(stem, func(r row) error {
		label, err := r.text("activity_label")
		if err != nil {
			return err
		}
		context, err := r.text("ctx")
		if err != nil {
			return err
		}
		endings, err := r.list("endings")
		if err != nil {
			return err
		}
		a := activityRow{prompt: context + lettered(endings) + "\nAnswer:"}
		if v := r.Row["label"]; v != nil && v != "" {
			if text, ok := v.(string); ok && len(text) == 1 && text[0] >= '0' && text[0] <= '9' {
				r.Row["label"] = int64(text[0] - '0')
			}
			at, err := r.goldIndex("label", len(endings))
			if err != nil {
				return err
			}
			a.gold = letters[at : at+1]
		}
		each(label, a)
		return nil
	})
}

// hellaswag builds the prompts of DeepEval's template, including the grammar error of its first line. The worked examples are the first of each
// activity.
func hellaswag(s *source) (problems []Problem, err error) {
	var shots strings.Builder
	if s.shots > 0 {
		seen := map[string]bool{}
		err = s.activities("data/train", func(label string, a activityRow) {
			if len(seen) < s.shots && !seen[label] {
				seen[label] = true
				shots.WriteString(a.prompt + " " + a.gold + "\n\n")
			}
		})
		if err == nil && len(seen) < s.shots {
			err = fmt.Errorf("%s %d: the training split has only %d activities", s.Spell.As("accuracy.n_shots"), s.shots, len(seen))
		}
	}
	if err != nil {
		return nil, err
	}
	byLabel := map[string][]activityRow{}
	if err := s.activities("data/validation", func(label string, a activityRow) { byLabel[label] = append(byLabel[label], a) }); err != nil {
		return nil, err
	}
	for _, label := range s.tasks {
		header := "The following are multiple choice questions (with answers) are sentence completion problems about " + label + ".\n\n"
		for _, a := range byLabel[label] {
			if a.gold != "" {
				problems = append(problems, plain(label, a.gold, header+shots.String()+a.prompt+hellaswagClosing))
			}
		}
	}
	return problems, nil
}
