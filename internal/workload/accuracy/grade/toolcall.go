package grade

import (
	"context"

	"aiperf/internal/workload/accuracy/toolcall"
)

// toolCallAST compares the calls in the answer's text with the expected ones.
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
