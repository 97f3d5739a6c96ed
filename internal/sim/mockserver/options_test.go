package mockserver

import (
	"strings"
	"testing"
)

// TestTimeWithoutUnit: a plain number is refused with the same number and a unit, and any other text with an example.
func TestTimeWithoutUnit(t *testing.T) {
	for query, want := range map[string]string{
		"ttft=50":  `ttft="50": needs a unit, for example 50ms`,
		"itl=1.5":  `itl="1.5": needs a unit, for example 1.5ms`,
		"ttft=abc": `ttft="abc": must be a duration from 0 to 1h, for example 50ms`,
		"ttft=2h":  `ttft="2h": must be a duration from 0 to 1h, for example 50ms`,
	} {
		if _, err := ParseQuery(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
	if _, err := ParseQuery("ttft=0"); err != nil {
		t.Errorf("0 needs no unit: %v", err)
	}
}
