package grade

import (
	"context"

	"aiperf/internal/pytext"
)

// exactMatch wants the answer to be the gold text, white space at both ends aside.
func exactMatch(_ context.Context, answer, gold string) Result {
	got, want := pytext.Strip(answer), pytext.Strip(gold)
	return judged(got != "" && got == want, got == "", got, want, "whole answer")
}
