package accuracy

import "strings"

// aimeHeader precedes the worked examples of AIME 2024, in the wording of the published prompts.
const aimeHeader = "The following are problems from the American Invitational Mathematics Examination (AIME) 2024. AIME is a prestigious high school " +
	"mathematics competition known for its challenging mathematical problems.\n\n"

// aime builds the prompts of TensorRT-LLM's recipe; the worked examples are the first problems of the set itself.
func aime(s *source) (problems []Problem, err error) {
	var header strings.Builder
	closing := "No explanation needed. Just return a number."
	if s.cot {
		closing = "Let's think step-by-step."
	}
	type problem struct{ asked, gold string }
	var all []problem
	err = s.split("aime_2024_problems", func(r row) error {
		v, err := r.texts("Problem", "Answer")
		if err != nil {
			return err
		}
		if len(all) < s.shots {
			if len(all) == 0 {
				header.WriteString(aimeHeader)
			}
			header.WriteString("**Problem**: " + v[0] + "\n")
			if s.cot {
				solution, err := r.text("Solution")
				if err != nil {
					return err
				}
				header.WriteString("**Solution**: " + solution + "\n")
			}
			header.WriteString("**Answer**: " + v[1] + "\n\n")
		}
		all = append(all, problem{"**Problem**: " + v[0] + "\n**Answer**: \n\n" + closing, v[1]})
		return nil
	})
	for _, p := range all {
		problems = append(problems, plain("aime", p.gold, header.String()+p.asked))
	}
	return problems, err
}

// aimeYear returns a loader that asks the problems of a year without further text.
func aimeYear(task string) func(s *source) ([]Problem, error) {
	return func(s *source) (problems []Problem, err error) {
		err = s.split("data/train", func(r row) error {
			v, err := r.texts("problem", "answer")
			if err == nil {
				problems = append(problems, plain(task, v[1], v[0]))
			}
			return err
		})
		return problems, err
	}
}
