package grade

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/base/testrecording"
	"aiperf/internal/workload/accuracy/pystring"
)

// pair is one recorded judgement: what the Python tool 0.13 gave, and where this program differs on purpose.
type pair struct {
	ID, Answer, Gold string
	Upstream, Ours   map[string]any
}

// want is the recorded value of a field; ok = false: none is compared.
func (p pair) want(field string) (any, bool) {
	v, ok := p.Ours[field]
	if !ok {
		v, ok = p.Upstream[field]
	}
	if _, same := v.(map[string]any); same {
		return pystring.Strip(p.Answer), true
	}
	return v, ok && v != nil
}

// comparesText are the graders whose extracted text is recorded as this program has it.
var comparesText = map[string]bool{"exact_match": true, "multiple_choice": true, "mmlu_pro": true, "math": true, "lighteval_gsm8k": true}

// TestRecordedPairs judges what the graders of the Python tool judged (lighteval 0.13, sympy 1.14).
func TestRecordedPairs(t *testing.T) {
	for i := range Graders {
		g := &Graders[i]
		t.Run(g.Name, func(t *testing.T) {
			if g.Check != nil {
				if err := g.Check(t.Context()); err != nil {
					gold := `{"public_test_cases":"[{\"input\":\"\",\"output\":\"1\"}]"}`
					if r := g.Grade(t.Context(), "```\nprint(1)\n```", gold); r.Passed || !r.Unparsed || r.Explanation != err.Error() {
						t.Errorf("%+v on a machine where it cannot run: %v", r, err)
					}
					return
				}
			}
			for i, p := range testrecording.Lines[pair](t, "testdata/"+g.Name+".jsonl.gz") {
				if i%testhome.Stride(8) != 0 {
					continue
				}
				r := g.Grade(t.Context(), p.Answer, p.Gold)
				got := map[string]any{"passed": r.Passed, "unparsed": r.Unparsed, "confidence": r.Confidence}
				if comparesText[g.Name] {
					got["extracted"] = r.Extracted
				}
				for field, v := range got {
					if want, ok := p.want(field); ok && v != want {
						t.Errorf("%s: %s %v, want %v (%.80q, gold %.40q)", p.ID, field, v, want, p.Answer, p.Gold)
					}
				}
			}
		})
	}
}

func TestThinking(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{"<think>A</think>B", "B"},
		{" \n<think>A</think>\nB", "\nB"},
		{"<think>A</think> <think>C</think>B", "B"},
		{"A or C</think>B", "B"},
		{"A</think><think>C</think>B", "B"},
		{"<think>A</think> \n", "A"},
		{"<think>A", "<think>A"},
		{"B<think>A</think>", "B<think>A</think>"},
		{"<think>A</think>B</think>C", "B</think>C"},
		{"B", "B"},
	} {
		if got, _ := withoutThinking(c.answer); got != c.want {
			t.Errorf("%q: %q, want %q", c.answer, got, c.want)
		}
	}
}

// TestRules tests each rule of a grader, and an answer that just fails it.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		grader, answer, gold string
		passed, unparsed     bool
	}{
		{"exact_match", " A\n", "A", true, false},
		{"exact_match", "a", "A", false, false},
		{"exact_match", " ", " ", false, true},
		{"multiple_choice", "B\nC", " B", true, false},
		{"multiple_choice", "b", " B", false, true},
		{"multiple_choice", "So the answer is (B", " B", true, false},
		{"multiple_choice", "So the answer is  B", " B", true, true},
		{"multiple_choice", "The answer is **B**", " B", true, true},
		{"multiple_choice", "the answer is A. No, the answer is B", " B", true, false},
		{"multiple_choice", "the answer is Because C", " C", true, true},
		{"multiple_choice", "Answer: B\nAnswer: Bother", " B", true, true},
		{"multiple_choice", "x\nA or\nB", " B", true, true},
		{"multiple_choice", "A or B", " B", false, true},
		{"mmlu_pro", "J", "J", true, false},
		{"mmlu_pro", "K", "K", false, true},
		{"mmlu_pro", "A or J", "J", true, true},
		{"math", `\boxed{5} and \boxed{`, "5", true, false},
		{"math", "the answer is 1,234", "1234", true, true},
		{"math", "1,2345", "2345", true, true},
		{"math", "3-5", "5", true, true},
		{"math", "(-5)", "-5", true, true},
		{"math", `\boxed{5 m}`, "5", true, false},
		{"math", `\boxed{a+b}`, "c+b", false, false},
		{"math", `\boxed{March}`, "April", false, false},
		{"math", `\boxed{March}`, "march", true, false},
		{"math", `\boxed{500}`, "5", true, false},
		{"math", `\boxed{501}`, "5", false, false},
		{"math", `\boxed{2,1}`, "1,2", true, false},
		{"math", `\boxed{x=7}`, "7", true, false},
		{"math", `\boxed{xyz=7}`, "7", false, false},
		{"math", "", "", false, true},
		{"lighteval_expr", "The answer is 7. I said 8", "7", true, false},
		{"lighteval_expr", "I said 7, then 8", "7", false, false},
		{"lighteval_latex", `so $x$ is $\frac{2}{4}$`, `$\frac12$`, true, false},
		{"lighteval_latex", "nothing", "$1$", false, true},
		{"lighteval_gpqa", "Answer: B", "B", true, false},
		{"lighteval_gpqa", "I pick B", "B", false, true},
		{"lighteval_gpqa", "E", "E", false, true},
		{"lighteval_gsm8k", "#### 1,200", "x #### 1200", true, false},
		{"lighteval_gsm8k", "####  1200", "x #### 1200", true, true},
		{"lighteval_gsm8k", "#### 5\n#### 6", "x #### 6", false, false},
		{"lighteval_gsm8k", "10-72", "x #### 72", true, true},
		{"lighteval_gsm8k", "none", "x #### 72", false, true},
		{"lighteval_gsm8k", "5", "not a number", false, true},
	} {
		g, err := Find(c.grader)
		if err != nil {
			t.Fatal(err)
		}
		if r := g.Grade(t.Context(), c.answer, c.gold); r.Passed != c.passed || r.Unparsed != c.unparsed || r.Explanation == "" {
			t.Errorf("%s %q, gold %q: %+v, want passed %v, unparsed %v", c.grader, c.answer, c.gold, r, c.passed, c.unparsed)
		}
	}
}

func TestFindListsTheGraders(t *testing.T) {
	_, err := Find("maths")
	if err == nil || !strings.Contains(err.Error(), "did you mean math?") || !strings.Contains(err.Error(), "lighteval_gsm8k") {
		t.Error(err)
	}
}

// TestGradeAlwaysReturns: a grader that fails or never ends costs one answer, not the run.
func TestGradeAlwaysReturns(t *testing.T) {
	g := Grader{Name: "fails", judge: func(context.Context, string, string) Result { panic("no such thing") }}
	if r := g.Grade(t.Context(), "a", " b "); r.Passed || !r.Unparsed || r.Expected != "b" || !strings.Contains(r.Explanation, "no such thing") {
		t.Errorf("%+v", r)
	}
	end := make(chan struct{})
	defer close(end)
	g = Grader{Name: "waits", limit: time.Nanosecond, judge: func(context.Context, string, string) Result {
		<-end
		return Result{}
	}}
	if r := g.Grade(t.Context(), "a", "b"); r.Passed || !r.Unparsed || !strings.Contains(r.Explanation, "the grader took longer than") {
		t.Errorf("%+v", r)
	}
}

// FuzzGrade: no answer ends the program, and results are consistent.
func FuzzGrade(f *testing.F) {
	for _, s := range []string{`\boxed{\frac12}`, "answer is (B)", "#### 1,2", "$[1,2)\\cup\\{3\\}$", "5!-3^{x^2}", "<think></think>", "((1,2];{x|y}", `\begin{pmatrix}1&2\\3\end{pmatrix}`} {
		f.Add(s, "5")
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, answer, gold string) {
		for i := range Graders {
			g := &Graders[i]
			if g.Name == "code_execution" {
				continue
			}
			r := g.Grade(t.Context(), answer, gold)
			if r.Passed != (r.Confidence == 1) || strings.Contains(r.Explanation, "the grader failed") {
				t.Errorf("%s: %+v", g.Name, r)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		}
	})
}
