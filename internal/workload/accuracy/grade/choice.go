package grade

import (
	"context"
	"strings"

	"aiperf/internal/workload/accuracy/pystring"
)

// choices are the letters of a multiple-choice question, in order.
type choices string

const (
	fourChoices choices = "ABCD"
	tenChoices  choices = "ABCDEFGHIJ"
)

// at reports whether the letter of a choice is at s[i] and does not begin a word.
func (c choices) at(s string, i int) bool {
	return i < len(s) && strings.IndexByte(string(c), s[i]) >= 0 && !pystring.WordAt(s, i+1)
}

// alone finds letters that touch no word character on either side: the first one, or the last one; "" = none.
func (c choices) alone(s string, last bool) (letter string) {
	for i := 0; i < len(s); i++ {
		if c.at(s, i) && !pystring.WordBefore(s, i) {
			letter = s[i : i+1]
			if !last {
				break
			}
		}
	}
	return letter
}

// letterAfter finds the letter after the last occurrence of the phrase that has one. skip returns the distance from the end of the phrase to the place of
// the letter.
func (c choices) letterAfter(s, phrase string, skip func(rest string) int) (letter string) {
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

// declared returns the letter of the last "answer is (X)" or "answer is X".
func (c choices) declared(s string) string {
	return c.letterAfter(s, "answer is ", func(rest string) int {
		if strings.HasPrefix(rest, "(") {
			return 1
		}
		return 0
	})
}

// labelled returns the letter of the last "Answer: X" or "answer: X".
func (c choices) labelled(s string) string {
	white := func(rest string) int { return len(rest) - len(strings.TrimLeftFunc(rest, pystring.Space)) }
	both := strings.ReplaceAll(s, "Answer:", "answer:")
	return c.letterAfter(both, "answer:", white)
}

// only returns the letter if a line consists of nothing else.
func (c choices) only(line string) string {
	if line = pystring.Strip(line); len(line) == 1 && strings.Contains(string(c), line) {
		return line
	}
	return ""
}

// step is one way to find the letter in an answer.
type step struct {
	how     string
	find    func(answer string) string
	guessed bool // the answer was not in the requested format
}

// first tries the steps until one finds a letter.
func first(steps []step, answer, gold string) Result {
	want := pystring.Strip(gold)
	for _, s := range steps {
		if got := s.find(answer); got != "" {
			return resultOf(got == want, s.guessed, got, want, s.how)
		}
	}
	return resultOf(false, true, "", want, "no letter found")
}

// multipleChoice looks for one of A to D, as lighteval scores MMLU. It prefers the answer stated at the end of a chain of thought to guesses.
func multipleChoice(_ context.Context, answer, gold string) Result {
	c := fourChoices
	return first([]step{
		{how: "the first line", find: func(s string) string { return c.only(pystring.FirstLine(s)) }},
		{how: "the last \"answer is\"", find: c.declared},
		{how: "the last \"Answer:\"", find: c.labelled, guessed: true},
		{how: "a letter in the first line", find: func(s string) string { return c.alone(pystring.FirstLine(s), false) }, guessed: true},
		{how: "the last letter", find: func(s string) string { return c.alone(s, true) }, guessed: true},
		{how: "the first line as it is", find: func(s string) string { return pystring.Strip(pystring.FirstLine(s)) }, guessed: true},
	}, answer, gold)
}

// mmluPro looks for one of A to J, with the extraction of TIGER-AI-Lab's MMLU-Pro.
func mmluPro(_ context.Context, answer, gold string) Result {
	c := tenChoices
	return first([]step{
		{how: "the first line", find: func(s string) string { return c.only(pystring.FirstLine(s)) }},
		{how: "the last \"answer is\"", find: c.declared},
		{how: "the last \"Answer:\"", find: c.labelled, guessed: true},
		{how: "the last letter", find: func(s string) string { return c.alone(s, true) }, guessed: true},
	}, answer, gold)
}
