package grade

import (
	"strings"

	"aiperf/internal/workload/accuracy/pystring"
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// withoutThinking removes the thinking before an answer: blocks in tags, or a text up to a closing tag that was never opened. If nothing is left, the
// content of the thinking is the answer. The note describes what was done, "" = nothing. Blocks that never close, or that come later, stay.
func withoutThinking(answer string) (text, note string) {
	rest, inside := answer, ""
	if i := strings.Index(answer, thinkClose); i >= 0 && !strings.Contains(answer[:i], thinkOpen) {
		rest, inside = answer[i+len(thinkClose):], answer[:i]
	}
	for {
		body, ok := strings.CutPrefix(strings.TrimLeftFunc(rest, pystring.Space), thinkOpen)
		if !ok {
			break
		}
		i := strings.Index(body, thinkClose)
		if i < 0 {
			break
		}
		inside += body[:i]
		rest = body[i+len(thinkClose):]
	}
	switch {
	case len(rest) == len(answer):
		return answer, ""
	case pystring.Strip(rest) == "":
		return inside, "the answer has only reasoning, so that is graded"
	}
	return rest, "the leading reasoning was removed"
}
