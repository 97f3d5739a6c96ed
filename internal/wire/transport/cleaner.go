package transport

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/redact"
	"aiperf/internal/measure/record"
)

// maxMessage is the length in characters above which an error text is cut. maxKept is the number of bytes that are kept until the text has been
// cleaned. It is larger, so that a credential at the cut is still whole and can be found.
const (
	maxMessage = 4096
	maxKept    = maxMessage + 1024
)

// CleanError removes the secrets known to hide from a record's error, if it has one, and cuts the text to maxMessage. The transport keeps the texts
// of servers unchanged, because searching them costs time; cleaning happens where nothing is measured.
func CleanError(rec *record.Record, hide *redact.Secrets) {
	e := rec.Error
	if e == nil {
		return
	}
	clean := func(s string) string { return cut(hide.Text(truncateError(s)), maxMessage) }
	e.Type, e.Message, e.Cause = clean(e.Type), clean(e.Message), clean(e.Cause)
	for i := range e.Chain {
		e.Chain[i] = clean(e.Chain[i])
	}
}

// truncateError returns the first maxKept bytes of a text: enough for the part that is shown.
func truncateError(s string) string {
	if len(s) <= maxKept+utf8.UTFMax {
		return s
	}
	return strings.ToValidUTF8(s[:maxKept], "") + "…"
}

// cut shortens a text to a number of characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
