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
	Aborted            int64 // answers whose finish reason says that the server gave up
	EarlyUsages        int64 // answers whose tokens the server counted before the last content
	MissingUsages      int64 // answers whose tokens the server did not count, although it was to
	AlternatingChoices int64 // answers with choices in alternating messages, so that the tokens of all count
	MoreChoices        int64 // answers with text in several choices, of which the client counted only the first
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
	if row.Aborted {
		u.Aborted++
	}
	if row.EarlyUsage {
		u.EarlyUsages++
	}
	if row.MissingUsage {
		u.MissingUsages++
	}
	if row.Alternating {
		u.AlternatingChoices++
	}
	if row.MoreChoices {
		u.MoreChoices++
	}
}

// Unread says why no figure of tokens can be trusted, because more than 1 % of the valid answers were not read whole; "" = they were.
func (e *ClientStats) Unread() string {
	limit := uncertainShare * float64(e.Valid)
	switch {
	case float64(e.UnreadableAnswers) > limit:
		return UnreadMessages
	case float64(e.MoreChoices) > limit:
		return UncountedChoices
	case float64(e.EarlyUsages) > limit:
		return EarlyUsage
	case e.usageMissesSome():
		return MissingUsage
	}
	return ""
}

// Results of Unread.
const (
	UnreadMessages   = "messages of the answers are not JSON"
	UncountedChoices = "only the first choice of the answers was counted"
	EarlyUsage       = "the server counted the tokens of the answers before their end"
	MissingUsage     = "the server did not count the tokens of some answers"
)

// usageMissesSome reports whether the token figures describe a part of the answers, because the server did not count the tokens of more than 1 % of them.
// If it counted none, there are no such figures.
func (e *ClientStats) usageMissesSome() bool {
	return float64(e.MissingUsages) > uncertainShare*float64(e.Valid) && e.MissingUsages < e.Valid
}

// choicesSentence says that choices are missing in the figures, and how to count them.
func (e *ClientStats) choicesSentence() string {
	return fmt.Sprintf("%s of %s have several choices in one message (n), of which only the first is counted, so output lengths, token rates and ITL are wrong. "+
		"{endpoint.use_server_token_count} counts the tokens of all choices.", terminal.Count(e.MoreChoices), terminal.Plural(e.Valid, "answer"))
}

// alternatingSentence says what ITL means if messages of several choices alternate.
func (e *ClientStats) alternatingSentence() string {
	return fmt.Sprintf("%s of %s have several choices (n) in alternating messages. Output lengths count the tokens of all choices, and ITL is the time between tokens of any choice: "+
		"within one choice it is longer.", terminal.Count(e.AlternatingChoices), terminal.Plural(e.Valid, "answer"))
}

// abortedSentence says that the server ended answers early by its own account.
func (e *ClientStats) abortedSentence() string {
	return fmt.Sprintf("%s of %s ended with a finish reason that says that the server gave up (abort, error, timeout and similar). They count as successful with what came, so latencies "+
		"and output lengths may be too low. finish_reason in the records names them.", terminal.Count(e.Aborted), terminal.Plural(e.Valid, "answer"))
}

// earlySentence says that tokens are missing in the server's counts.
func (e *ClientStats) earlySentence() string {
	return fmt.Sprintf("In %s of %s content came after the last token count of the server (usage), so output lengths, token rates and ITL may be wrong. "+
		"The server or a proxy may have ended the answers early.", terminal.Count(e.EarlyUsages), terminal.Plural(e.Valid, "answer"))
}

// missingSentence says what follows from answers without a count of the server.
func (e *ClientStats) missingSentence() string {
	const instead = "Without {endpoint.use_server_token_count} aiperf counts the tokens itself."
	if e.MissingUsages == e.Valid {
		return "The server reported no token count (usage) in any answer, so there are no output lengths, token rates or ITL. " + instead
	}
	return fmt.Sprintf("In %s of %s the server reported no token count (usage), so token rates are too low, and output lengths and ITL are those of the other answers. "+instead,
		terminal.Count(e.MissingUsages), terminal.Plural(e.Valid, "answer"))
}

// unreadSentences lists what is missing in the figures of many answers.
func (e *ClientStats) unreadSentences() (list []string) {
	limit := uncertainShare * float64(e.Valid)
	if float64(e.UnreadableAnswers) > limit {
		list = append(list, e.unreadableSentence())
	}
	if float64(e.MoreChoices) > limit {
		list = append(list, e.choicesSentence())
	}
	if float64(e.EarlyUsages) > limit {
		list = append(list, e.earlySentence())
	}
	if e.usageMissesSome() {
		list = append(list, e.missingSentence())
	}
	return list
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
