package grade

import (
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
)

// TestNeighbours judges 74 pairs of values in six wordings as the graders of the Python tool 0.13 did (lighteval 0.13.0, sympy 1.14,
// latex2sympy2-extended 1.11.0): infinities, overflow, sets, unions, intervals, numbers as text, thousands separators. Differences are listed.
func TestNeighbours(t *testing.T) {
	graders := map[string]func(answer, gold string) bool{}
	for i := range Graders {
		g := &Graders[i]
		graders[g.Name] = func(answer, gold string) bool { return g.Grade(t.Context(), answer, gold).Passed }
	}
	differ := 0
	for _, c := range testrecording.Lines[struct {
		Grader, Gold, Answer string
		Passed               bool
	}](t, "testdata/neighbours.jsonl.gz") {
		got := graders[c.Grader](c.Answer, c.Gold)
		if got == c.Passed {
			continue
		}
		if differ++; !got || c.Grader != "math" || !betterThanPython(c.Answer) {
			t.Errorf("%s, gold %s, answer %s: passed %v, the Python tool %v", c.Grader, c.Gold, c.Answer, got, c.Passed)
		}
	}
	if differ != 24 {
		t.Errorf("%d judgements differ from the Python tool, want the 24 that are listed", differ)
	}
}

// betterThanPython tells whether an answer is right that the Python tool's math grader refuses: it takes 000 for the value of 1,000 in a sentence, does not
// merge unions of three intervals, and does not read \mbox{5}.
func betterThanPython(answer string) bool {
	return strings.Count(answer, `\cup`) == 2 || strings.Contains(answer, `\mbox{5}`) ||
		strings.Contains(answer, "1,000") || strings.Contains(answer, "1,234,567")
}
