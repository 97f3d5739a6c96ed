package grade

import (
	"context"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/text/tokenizer/regex"
	"aiperf/internal/workload/accuracy/mathtext"
	"aiperf/internal/workload/accuracy/pystring"
)

// decimals is the number of decimals to which lighteval's graders of this benchmark set round decimal fractions.
const decimals = 5

// Priorities of a box: the highest in answers, after "final answer is" in gold.
const (
	boxFirst = 0
	boxLater = 55
)

// The patterns are compiled when the first answer needs them; otherwise every command would wait for them.
var (
	answerPatterns = sync.OnceValue(func() []pattern { return byPriority(slices.Concat(formulas(boxFirst), expressions())...) })
	goldExpression = sync.OnceValue(func() []pattern { return byPriority(slices.Clone(expressions())...) })
	goldFormula    = sync.OnceValue(func() []pattern { return byPriority(formulas(boxLater)...) })
	letters        = sync.OnceValue(letterPatterns)
)

// lightevalExpr compares the answer with a gold number or sum.
func lightevalExpr(_ context.Context, answer, gold string) Result {
	return extractive(answer, gold, goldExpression())
}

// lightevalLatex compares the answer with the LaTeX of a gold solution.
func lightevalLatex(_ context.Context, answer, gold string) Result {
	return extractive(answer, gold, goldFormula())
}

// extractive finds the answer on both sides and compares the values, or else the texts. A gold text without an extractable answer is compared as a
// whole.
func extractive(answer, gold string, goldPatterns []pattern) Result {
	want, err := find(goldPatterns, gold)
	if err != nil {
		return failed(gold, err.Error())
	}
	if want.value == nil && want.text == "" {
		want.text = gold
	}
	got, err := find(answerPatterns(), answer)
	if err != nil {
		return failed(gold, err.Error())
	}
	expected := pystring.Strip(gold)
	if got.value == nil && got.text == "" {
		return resultOf(false, true, "", expected, "no answer found")
	}
	same := got.value != nil && want.value != nil && mathtext.Equal(want.value, got.value, decimals)
	if text := pystring.Strip(got.text); !same {
		same = text != "" && text == pystring.Strip(want.text)
	}
	return resultOf(same, false, got.text, expected, "the last match of the most specific pattern")
}

// letterPatterns returns patterns that find the letter of a choice after the word "answer", or at the start of the text or of a line.
func letterPatterns() []pattern {
	const (
		letter = `(?<indices>(?:A|\(A\))|(?:B|\(B\))|(?:C|\(C\))|(?:D|\(D\)))`
		end    = `(?:\*\*)?(?:` + fullStop + `|[,,]|\s?[::]| |\Z)`
		apart  = `(?:\A| )(?:\*\*)?` + letter + end
	)
	read := func(m *regex.Found) (*mathtext.Node, string) {
		text := strings.Trim(m.Group("indices"), "()")
		return mathtext.Symbol(text), text
	}
	return byPriority(kinds(read, []kind{
		{`(?i:final answer is)\:?\s*` + letter + `\.?\s?I hope`, 0},
		{`(?i:final answer.{0,100}?)\s+is\:?\s*` + letter, 50},
		{answerWord + `\s?[::].{0,50}?` + apart, 100},
		{answerWord + `.{0,50}?` + apart, 150},
		{`\A(?:\*\*)?` + letter + end, 200},
		{`\n(?:\*\*)?` + letter + end, 210},
	})...)
}

// lightevalGPQA compares the letter of a choice.
func lightevalGPQA(_ context.Context, answer, gold string) Result {
	want := strings.ToUpper(pystring.Strip(gold))
	if fourChoices.only(want) == "" {
		return failed(gold, "the gold answer is none of A to D")
	}
	got, err := find(letters(), answer)
	switch {
	case err != nil:
		return failed(gold, err.Error())
	case !got.any:
		return resultOf(false, true, "", want, "no answer found")
	}
	return resultOf(got.text == want, false, got.text, want, "the last letter found by the most specific pattern")
}
