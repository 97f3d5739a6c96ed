package preflight

import (
	"fmt"
	"strings"

	"aiperf/internal/measure/record"
)

// ErrorText formats an error in one line.
func ErrorText(e *record.Error) string {
	const most = 160
	text := strings.Join(strings.Fields(e.Reason()), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	kind := e.Type
	if e.Code != 0 {
		kind = fmt.Sprintf("%d %s", e.Code, e.Type)
	}
	if text == "" {
		return kind
	}
	return kind + ": " + text
}
