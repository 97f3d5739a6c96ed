package transport

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/record"
	"aiperf/internal/redact"
)

// maxMessage is the length in characters above which an error text is cut. maxKept is what is kept of it, in bytes, until it has been
// cleaned: a credential that the cut would halve must still be found.
const (
	maxMessage = 4096
	maxKept    = maxMessage + 1024
)

// CleanError takes what hide knows out of the error of a record, if it has one, and cuts it to its length. The transport keeps the words of
// servers as they came: looking through them is work, and is done where nothing is measured.
func CleanError(rec *record.Record, hide *redact.Secrets) {
	e := rec.Error
	if e == nil {
		return
	}
	clean := func(s string) string { return cut(hide.Text(keep(s)), maxMessage) }
	e.Type, e.Message, e.Cause = clean(e.Type), clean(e.Message), clean(e.Cause)
	for i := range e.Chain {
		e.Chain[i] = clean(e.Chain[i])
	}
}

// keep gives the beginning of a text that is long enough for what will be shown of it.
func keep(s string) string {
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
