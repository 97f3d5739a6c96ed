package grade

import (
	"context"

	"aiperf/internal/workload/accuracy/pystring"
)

// exactMatch requires the answer to equal the gold text, ignoring white space at both ends.
func exactMatch(_ context.Context, answer, gold string) Result {
	got, want := pystring.Strip(answer), pystring.Strip(gold)
	return resultOf(got != "" && got == want, got == "", got, want, "whole answer")
}
