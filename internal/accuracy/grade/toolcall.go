package grade

import (
	"context"

	"aiperf/internal/accuracy/toolcall"
)

// toolCallAST compares calls that stand in the answer as text with those that are expected.
func toolCallAST(_ context.Context, answer, gold string) Result {
	g, err := toolcall.ReadGold(gold)
	if err != nil {
		return failed("", toolcall.Unclassified+": "+err.Error())
	}
	passed, unparsed, why := g.Judge(answer)
	r := Result{Passed: passed, Unparsed: unparsed, Extracted: answer, Expected: g.Expected(), Explanation: why}
	if passed {
		r.Confidence = 1
	}
	return r
}
