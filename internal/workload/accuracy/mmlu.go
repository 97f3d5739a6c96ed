package accuracy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/base/rng"
)

// mmluSubjects are the tasks of MMLU in their default order.
var mmluSubjects = strings.Fields(`abstract_algebra anatomy astronomy business_ethics clinical_knowledge college_biology college_chemistry
	college_computer_science college_mathematics college_medicine college_physics computer_security conceptual_physics econometrics
	electrical_engineering elementary_mathematics formal_logic global_facts high_school_biology high_school_chemistry high_school_computer_science
	high_school_european_history high_school_geography high_school_government_and_politics high_school_macroeconomics high_school_mathematics
	high_school_microeconomics high_school_physics high_school_psychology high_school_statistics high_school_us_history high_school_world_history
	human_aging human_sexuality international_law jurisprudence logical_fallacies machine_learning management marketing medical_genetics miscellaneous
	moral_disputes moral_scenarios nutrition philosophy prehistory professional_accounting professional_law professional_medicine professional_psychology
	public_relations security_studies sociology us_foreign_policy virology world_religions`)

// mmluQuestion is one question of MMLU.
type mmluQuestion struct {
	question string
	choices  []string
	gold     int
}

func (q *mmluQuestion) prompt() string {
	return "Question: " + q.question + lettered(q.choices) + "\nAnswer:"
}
func (q *mmluQuestion) answer() string { return " " + letters[q.gold:q.gold+1] }

func readMMLU(s *source, stem string) (list []mmluQuestion, err error) {
	err = s.split(stem, func(r row) error {
		var q mmluQuestion
		if q.question, err = r.text("question"); err != nil {
			return err
		}
		if q.choices, err = r.list("choices"); err != nil {
			return err
		}
		if len(q.choices) > len(letters) {
			return fmt.Errorf("%s: %d choices", r.where, len(q.choices))
		}
		if q.gold, err = r.goldIndex("answer", len(q.choices)); err != nil {
			return err
		}
		list = append(list, q)
		return nil
	})
	return list, err
}

// mmlu builds lighteval's prompts: worked examples are turns of a chat, or text above the question.
func mmlu(s *source) (problems []Problem, err error) {
	for _, subject := range s.tasks {
		shots, err := s.mmluShots(subject)
		if err != nil {
			return nil, err
		}
		test, err := readMMLU(s, subject+"/test")
		if err != nil {
			return nil, err
		}
		line := subjectLine(strings.ReplaceAll(subject, "_", " "), s.cot)
		var turns []Message
		var text strings.Builder
		text.WriteString(line)
		for i := range shots {
			asked := shots[i].prompt()
			text.WriteString(asked + shots[i].answer() + "\n\n")
			if i == 0 {
				asked = line + asked
			}
			turns = append(turns, Message{"user", asked}, Message{"assistant", shots[i].answer()})
		}
		for i := range test {
			asked := test[i].prompt()
			if s.cot {
				asked = strings.TrimSuffix(asked, "Answer:") + "Let's think step by step.\nAnswer:"
			}
			p := Problem{Task: subject, Gold: test[i].answer(), Text: text.String() + asked}
			if len(turns) == 0 {
				asked = line + asked
			}
			p.Turns = append(slices.Clone(turns), Message{"user", asked})
			problems = append(problems, p)
		}
	}
	return problems, nil
}

// mmluShots returns the worked examples of a subject, from its dev split, otherwise its validation split.
func (s *source) mmluShots(subject string) ([]mmluQuestion, error) {
	if s.shots <= 0 {
		return nil, nil
	}
	for _, split := range []string{"/dev", "/validation"} {
		there, err := s.has(subject + split)
		if err != nil {
			return nil, err
		}
		if there {
			rows, err := readMMLU(s, subject+split)
			return balanced(rows, s.shots), err
		}
	}
	return nil, nil
}

// balanced chooses n questions with different correct answers, like lighteval's balanced sampler with seed 0. Questions are grouped by the text of
// the correct answer, groups of the same size are shuffled, and one question is drawn from each group in turn.
func balanced(rows []mmluQuestion, n int) []mmluQuestion {
	groups := map[string][]int{}
	for i := range rows {
		label := rows[i].choices[rows[i].gold]
		groups[label] = append(groups[label], i)
	}
	bySize := map[int][]string{}
	for _, label := range slices.Sorted(maps.Keys(groups)) {
		size := len(groups[label])
		bySize[size] = append(bySize[size], label)
	}
	draw := rng.NewStream(0)
	var order []string
	sizes := slices.Sorted(maps.Keys(bySize))
	slices.Reverse(sizes)
	for _, size := range sizes {
		labels := bySize[size]
		draw.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		order = append(order, labels...)
	}
	var chosen []mmluQuestion
	for remaining := min(len(rows), n+1); remaining > 0; {
		for _, label := range order {
			pool := groups[label]
			if len(pool) == 0 || remaining == 0 {
				continue
			}
			at := draw.Below(len(pool))
			chosen = append(chosen, rows[pool[at]])
			groups[label] = slices.Delete(pool, at, at+1)
			remaining--
		}
	}
	return chosen[:min(n, len(chosen))]
}
