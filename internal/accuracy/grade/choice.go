package grade

import (
	"context"
	"strings"

	"aiperf/internal/pytext"
)

// choices are letters of a multiple-choice question, as a set and in order.
type choices string

const (
	fourChoices choices = "ABCD"
	tenChoices  choices = "ABCDEFGHIJ"
)

// at tells whether the letter of a choice stands at s[i], not as the beginning of a word.
func (c choices) at(s string, i int) bool {
	return i < len(s) && strings.IndexByte(string(c), s[i]) >= 0 && !pytext.WordAt(s, i+1)
}

// alone finds stand-alone letters: neither end touches a word. The first one, or the last one; "" = none.
func (c choices) alone(s string, last bool) (letter string) {
	for i := 0; i < len(s); i++ {
		if c.at(s, i) && !pytext.WordBefore(s, i) {
			letter = s[i : i+1]
			if !last {
				break
			}
		}
	}
	return letter
}

// behind finds the letter behind the last of the phrases that has one; skip moves from the end of a phrase to where the letter must stand.
func (c choices) behind(s, phrase string, skip func(rest string) int) (letter string) {
	for from := 0; ; {
		i := strings.Index(s[from:], phrase)
		if i < 0 {
			return letter
		}
		from += i + len(phrase)
		if at := from + skip(s[from:]); c.at(s, at) {
			letter = s[at : at+1]
		}
	}
}

// declared is the letter of the last "answer is (X)" or "answer is X".
func (c choices) declared(s string) string {
	return c.behind(s, "answer is ", func(rest string) int {
		if strings.HasPrefix(rest, "(") {
			return 1
		}
		return 0
	})
}

// labelled is the letter of the last "Answer: X", in either case of the first letter.
func (c choices) labelled(s string) string {
	white := func(rest string) int { return len(rest) - len(strings.TrimLeftFunc(rest, pytext.Space)) }
	both := strings.ReplaceAll(s, "Answer:", "answer:")
	return c.behind(both, "answer:", white)
}

// only is the letter that a line consists of.
func (c choices) only(line string) string {
	if line = pytext.Strip(line); len(line) == 1 && strings.Contains(string(c), line) {
		return line
	}
	return ""
}

// step is one way to find the letter in an answer.
type step struct {
	how     string
	find    func(answer string) string
	guessed bool // the answer did not keep to a form that was asked for
}

// first goes through the steps until one finds something.
func first(steps []step, answer, gold string) Result {
	want := pytext.Strip(gold)
	for _, s := range steps {
		if got := s.find(answer); got != "" {
			return judged(got == want, s.guessed, got, want, s.how)
		}
	}
	return judged(false, true, "", want, "no letter found")
}

// multipleChoice looks for one of A to D. (MMLU as lighteval scores it, with the stated answer of a chain of thought before guesses.)
func multipleChoice(_ context.Context, answer, gold string) Result {
	c := fourChoices
	return first([]step{
		{how: "the first line", find: func(s string) string { return c.only(pytext.FirstLine(s)) }},
		{how: "the last \"answer is\"", find: c.declared},
		{how: "the last \"Answer:\"", find: c.labelled, guessed: true},
		{how: "a letter in the first line", find: func(s string) string { return c.alone(pytext.FirstLine(s), false) }, guessed: true},
		{how: "the last letter", find: func(s string) string { return c.alone(s, true) }, guessed: true},
		{how: "the first line as it is", find: func(s string) string { return pytext.Strip(pytext.FirstLine(s)) }, guessed: true},
	}, answer, gold)
}

// mmluPro looks for one of A to J. (The extraction of TIGER-AI-Lab's MMLU-Pro.)
func mmluPro(_ context.Context, answer, gold string) Result {
	c := tenChoices
	return first([]step{
		{how: "the first line", find: func(s string) string { return c.only(pytext.FirstLine(s)) }},
		{how: "the last \"answer is\"", find: c.declared},
		{how: "the last \"Answer:\"", find: c.labelled, guessed: true},
		{how: "the last letter", find: func(s string) string { return c.alone(s, true) }, guessed: true},
	}, answer, gold)
}
