package preflight

import (
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// TestErrorText: the line names status and type, and a long message is cut.
func TestErrorText(t *testing.T) {
	if got := ErrorText(&record.Error{Code: 500, Type: "Internal Server Error", Message: "a\n  b"}); got != "500 Internal Server Error: a b" {
		t.Errorf("%q", got)
	}
	if long := ErrorText(&record.Error{Type: "E", Message: strings.Repeat("é", 500)}); len([]rune(long)) > 170 {
		t.Errorf("a long message is %d characters", len([]rune(long)))
	}
}
