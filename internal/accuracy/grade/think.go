package grade

import (
	"strings"

	"aiperf/internal/pytext"
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// withoutThinking drops the thinking in front of an answer: blocks in tags, or a text up to a closing tag that was never opened. If nothing
// is left, what was inside is the answer. The note says what was done, "" = nothing. Blocks that never close or come later stay.
func withoutThinking(answer string) (text, note string) {
	rest, inside := answer, ""
	if i := strings.Index(answer, thinkClose); i >= 0 && !strings.Contains(answer[:i], thinkOpen) {
		rest, inside = answer[i+len(thinkClose):], answer[:i]
	}
	for {
		body, ok := strings.CutPrefix(strings.TrimLeftFunc(rest, pytext.Space), thinkOpen)
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
	case pytext.Strip(rest) == "":
		return inside, "nothing but thinking, which is graded"
	}
	return rest, "thinking in front dropped"
}
