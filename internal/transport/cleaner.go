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

// Cleaner takes credentials out of the errors of records and cuts them to their length. The transport keeps the words of servers as they
// came: looking through them is work, and is done where nothing is measured.
type Cleaner struct{ secrets []string }

// NewCleaner makes a cleaner that knows the credentials in the URLs of a run. Those in request headers it takes from each record.
func NewCleaner(targets []*Target) *Cleaner {
	c := &Cleaner{}
	for _, t := range targets {
		if _, word, ok := strings.Cut(t.auth, " "); ok {
			c.secrets = append(c.secrets, word)
		}
	}
	return c
}

// Clean cleans the error of a record, if it has one.
func (c *Cleaner) Clean(rec *record.Record) {
	e := rec.Error
	if e == nil {
		return
	}
	secrets := c.secrets[:len(c.secrets):len(c.secrets)]
	for _, h := range rec.RequestHeaders {
		if redact.SecretHeader(h.Name) && !strings.Contains(strings.ToLower(h.Name), "session") {
			secrets = append(secrets, h.Value)
			if _, word, ok := strings.Cut(h.Value, " "); ok {
				secrets = append(secrets, word)
			}
		}
	}
	clean := func(s string) string { return cut(redact.Values(keep(s), secrets...), maxMessage) }
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
