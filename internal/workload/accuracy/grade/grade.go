// Package grade judges answers of models against the gold answers of benchmarks: one file per grader, one row in Graders, and plug-ins.
package grade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/suggest"
	"aiperf/internal/workload/accuracy/pystring"
)

// Result is the grade of one answer.
type Result struct {
	Passed      bool
	Unparsed    bool    // the answer had to be guessed, or was missing
	Confidence  float64 // 1 or 0; where programs are run, the fraction of candidates that pass
	Extracted   string  // the part of the answer that was compared
	Expected    string  // the text that it was compared with
	Explanation string
}

// Grader is one way to judge answers.
type Grader struct {
	Name  string
	judge func(ctx context.Context, answer, gold string) Result
	limit time.Duration // time limit for one answer; 0 = answerLimit

	// Check returns why the grader cannot work on this machine; nil = it always can.
	Check func(ctx context.Context) error

	plugin *plugin.Entry // the plug-in that judges; nil = built in
	pool   *program.Pool // its processes, once they were started
}

// answerLimit is the time limit for judging one answer. It is some thousand times the usual time: a benchmarking machine is busy, and an answer that
// is given up for lack of CPU would be graded wrong.
const answerLimit = time.Minute

// Graders lists all graders in the order of the listing.
var Graders = []Grader{
	{Name: "exact_match", judge: exactMatch},
	{Name: "math", judge: mathematics},
	{Name: "multiple_choice", judge: multipleChoice},
	{Name: "code_execution", judge: codeExecution, limit: codeLimit, Check: canRunCode},
	{Name: "lighteval_expr", judge: lightevalExpr},
	{Name: "lighteval_latex", judge: lightevalLatex},
	{Name: "lighteval_gpqa", judge: lightevalGPQA},
	{Name: "mmlu_pro", judge: mmluPro},
	{Name: "lighteval_gsm8k", judge: gsm8k},
	{Name: "tool_call_ast", judge: toolCallAST},
}

// Names returns the names of the graders.
func Names() []string {
	names := make([]string, len(Graders))
	for i, g := range Graders {
		names[i] = g.Name
	}
	return names
}

// Find returns a grader by name: a built-in one or a plug-in. The error for an unknown name lists them all.
func Find(name string) (*Grader, error) {
	i := slices.IndexFunc(Graders, func(g Grader) bool { return g.Name == name })
	installed := plugin.Installed()
	switch e, ok, err := installed.Choose(Category, name, i >= 0); {
	case err != nil:
		return nil, err
	case ok:
		return external(e), nil
	case i >= 0:
		return &Graders[i], nil
	}
	hint, names := "", slices.Concat(Names(), installed.Names(Category, Names()))
	if near := suggest.Name(name, names); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return nil, fmt.Errorf("unknown grader %q%s; graders: %s", name, hint, strings.Join(names, ", "))
}

// Grade judges an answer. It always returns: after a failure or a timeout the result is incorrect and unparsed, with the reason.
func (g *Grader) Grade(ctx context.Context, answer, gold string) Result {
	limit := g.limit
	if limit == 0 {
		limit = answerLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, note := withoutThinking(answer)
	done := make(chan Result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- failed(gold, fmt.Sprintf("the grader failed: %v", r))
			}
		}()
		done <- g.judge(ctx, text, gold)
	}()
	var r Result
	select {
	case r = <-done:
	case <-ctx.Done():
		r = failed(gold, fmt.Sprintf("the grader took longer than %v", limit))
	}
	if note != "" {
		r.Explanation = note + "; " + r.Explanation
	}
	return r
}

// failed returns the result of an answer that could not be judged.
func failed(gold, why string) Result {
	return Result{Unparsed: true, Expected: pystring.Strip(gold), Explanation: why}
}

// resultOf returns the result of a comparison. how says where the answer was found.
func resultOf(passed, unparsed bool, extracted, expected, how string) Result {
	r := Result{Passed: passed, Unparsed: unparsed, Extracted: extracted, Expected: expected}
	verdict := "wrong"
	if passed {
		r.Confidence, verdict = 1, "right"
	}
	r.Explanation = fmt.Sprintf("%s: %s, want %s: %s", how, quotable(extracted), quotable(expected), verdict)
	return r
}

// AppendTo appends the members of a result to an object.
func (r Result) AppendTo(o *jsontext.Object) {
	o.Bool("passed", r.Passed)
	o.Bool("unparsed", r.Unparsed)
	o.Float("confidence", r.Confidence)
	o.Text("extracted", r.Extracted)
	o.Text("expected", r.Expected)
	o.Text("explanation", r.Explanation)
}

// quotable returns a text in the form in which explanations quote it.
func quotable(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
