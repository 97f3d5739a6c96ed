package metric

import (
	"fmt"

	"aiperf/internal/base/terminal"
)

// AnswerUse counts the valid answers that may not be whole.
type AnswerUse struct {
	UnreadableMessages int64 // messages that are not JSON
	UnreadableAnswers  int64 // answers with such messages
	FinishReasons      int64 // answers with a finish reason
}

// add counts the answer of a request.
func (u *AnswerUse) add(row *Row) {
	if row.Unreadable > 0 {
		u.UnreadableMessages += row.Unreadable
		u.UnreadableAnswers++
	}
	if row.Finished {
		u.FinishReasons++
	}
}

// Unread reports whether more than 1 % of the valid answers have unreadable messages, so that no figure of tokens can be trusted.
func (e *ClientStats) Unread() bool {
	return float64(e.UnreadableAnswers) > uncertainShare*float64(e.Valid)
}

// unreadableSentence says what is missing in the figures, and how to see it.
func (e *ClientStats) unreadableSentence() string {
	return fmt.Sprintf("aiperf could not read %s in %s of %s as JSON. Their content is missing in the figures, so output lengths, token rates, ITL and latency may be wrong. "+
		"{artifacts.records} raw shows what the server sent.", terminal.Plural(e.UnreadableMessages, "message"), terminal.Count(e.UnreadableAnswers), terminal.Plural(e.Valid, "answer"))
}

// unfinished returns the number of valid answers without a finish reason, if others have one; 0 = all have one, or none.
func (e *ClientStats) unfinished() int64 {
	if e.FinishReasons == 0 {
		return 0
	}
	return e.Valid - e.FinishReasons
}
