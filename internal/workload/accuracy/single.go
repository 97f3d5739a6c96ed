package accuracy

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
)

// gsm8k builds lighteval's prompts. The gold answer is the solution, in which the grader finds the number.
func gsm8k(s *source) (problems []Problem, err error) {
	err = s.split("main/test", func(r row) error {
		v, err := r.texts("question", "answer")
		if err == nil {
			problems = append(problems, plain("gsm8k", v[1], "Question: "+v[0]+"\nAnswer:"))
		}
		return err
	})
	return problems, err
}

// math500 asks the problems without further text; a task is a subject.
func math500(s *source) (problems []Problem, err error) {
	err = s.split("test", func(r row) error {
		problem, err := r.text("problem")
		if err != nil {
			return err
		}
		solution, _ := r.Row["solution"].(string) // a problem without a solution is never correct
		task, _ := r.Row["subject"].(string)
		if task == "" {
			task = "math_500"
		}
		problems = append(problems, plain(task, solution, problem))
		return nil
	})
	return problems, err
}

// gpqaHeader is the instruction of simple-evals' multiple-choice template.
const gpqaHeader = "Answer the following multiple choice question. The last line of your response should be of the following format: 'Answer: $LETTER' " +
	"(without quotes) where LETTER is one of ABCD. Think step by step before answering.\n\n"

// gpqaDiamond uses the template of simple-evals. The question determines the order of the options, so that it is the same in every run.
func gpqaDiamond(s *source) (problems []Problem, err error) {
	err = s.file("gpqa_diamond.csv", func(r row) error {
		question, err := r.text("Question")
		if err != nil {
			return err
		}
		options := make([]string, 4)
		for i, column := range []string{"Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"} {
			options[i], _ = r.Row[column].(string) // an empty cell is an empty option
		}
		sum := sha256.Sum256([]byte(question))
		order := []int{0, 1, 2, 3}
		rng.NewStream(uint64(binary.BigEndian.Uint32(sum[28:]))).Shuffle(4, func(i, j int) { order[i], order[j] = order[j], order[i] })
		prompt, gold := gpqaHeader+question+"\n", ""
		for i, from := range order {
			prompt += "\n" + letters[i:i+1] + ") " + options[from]
			if from == 0 {
				gold = letters[i : i+1]
			}
		}
		problems = append(problems, plain("gpqa_diamond", gold, prompt))
		return nil
	})
	return problems, err
}

// The wording of LiveCodeBench's prompts in lighteval.
const (
	lcbHeader  = "You will be given a question (problem specification) and will generate a correct Python program that matches the specification and passes all tests.\n\n"
	lcbStarter = "You will use the following starter code to write the solution to the problem and enclose your code within delimiters.\n"
	lcbStdin   = "Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on the sample inputs). Enclose your code within " +
		"delimiters as follows. Ensure that when the python program runs, it reads the inputs, runs the algorithm and writes output to STDOUT.\n"
)

// lcbReleases is the number of problem files.
const lcbReleases = 6

var lcbTag = lazyregexp.New(`^(?:(release_)?v([1-9]\d*)|v([1-9]\d*)_v([1-9]\d*))$`)

// lcbFiles returns the files of a release: vN is one file, vA_vB are the files from A to B, release_vN those up to N.
func lcbFiles(tag string, as setting.Spell) ([]string, error) {
	m := lcbTag.FindStringSubmatch(tag)
	bad := fmt.Errorf("%s %q: unknown release of LiveCodeBench; allowed are v1 to v%d, vA_vB and release_vN", as.As("environment.accuracy.lcb_release_tag"), tag, lcbReleases)
	if m == nil {
		return nil, bad
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n } // only digits; too many of them give 0, which is refused
	from, to := number(m[3]), number(m[4])
	if m[2] != "" {
		from, to = number(m[2]), number(m[2])
		if m[1] != "" {
			from = 1
		}
	}
	if from < 1 || to > lcbReleases || from > to {
		return nil, bad
	}
	var names []string
	for n := from; n <= to; n++ {
		name := "test.jsonl"
		if n > 1 {
			name = fmt.Sprintf("test%d.jsonl", n)
		}
		names = append(names, name)
	}
	return names, nil
}

// liveCodeBench asks for programs. The gold answer is the input of the grader: starter code, tests and metadata as JSON.
func liveCodeBench(s *source) (problems []Problem, err error) {
	names, err := lcbFiles(s.Release, s.Spell)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		err := s.file(name, func(r row) error {
			question, err := r.text("question_content")
			if err != nil {
				return err
			}
			starter, _ := r.Row["starter_code"].(string)
			prompt := lcbHeader + "Question: " + question + "\n\n"
			if starter != "" {
				prompt += lcbStarter + "```python\n" + starter + "\n```\n\n"
			} else {
				prompt += lcbStdin + "```python\n# YOUR CODE HERE\n```\n\n"
			}
			gold := jsontext.Open(nil)
			for _, column := range []string{"starter_code", "public_test_cases", "private_test_cases", "metadata"} {
				text, _ := r.Row[column].(string)
				gold.Text(column, text)
			}
			problems = append(problems, plain("lcb_codegeneration", string(gold.Close()), prompt))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return problems, nil
}
