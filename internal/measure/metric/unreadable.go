package metric

import (
	"fmt"

	"aiperf/internal/base/terminal"
)

// UnreadableUse counts what could not be read in valid answers.
type UnreadableUse struct {
	UnreadableMessages int64 // messages that are not JSON
	UnreadableAnswers  int64 // answers with such messages
}

// add counts the unreadable messages of one valid answer.
func (u *UnreadableUse) add(messages int64) {
	if messages > 0 {
		u.UnreadableMessages += messages
		u.UnreadableAnswers++
	}
}

// Unread reports whether more than 1 % of the valid answers have unreadable messages, so that no figure of tokens can be trusted.
func (u UnreadableUse) Unread(valid float64) bool {
	return float64(u.UnreadableAnswers) > uncertainShare*valid
}

// unread applies the same rule to the run.
func (e *ClientStats) unread() bool { return e.UnreadableUse.Unread(float64(e.Valid)) }

// unreadableSentence says what is missing in the figures, and how to see it.
func (e *ClientStats) unreadableSentence() string {
	return fmt.Sprintf("aiperf could not read %s in %s of %s as JSON. Tokens of unreadable messages are not counted, so output lengths are too small, and token rates, ITL and latency may be wrong. "+
		"{artifacts.records} raw shows what the server sent.", terminal.Plural(e.UnreadableMessages, "message"), terminal.Count(e.UnreadableAnswers), terminal.Plural(e.Valid, "answer"))
}
