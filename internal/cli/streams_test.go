package cli

import (
	"strings"
	"testing"
)

func TestColours(t *testing.T) {
	for line, want := range map[string]bool{"": true, "TERM=xterm": true, "TERM=dumb": false, "TERM=xterm NO_COLOR=1": false, "NO_COLOR=": true} {
		if got := colours(strings.Fields(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
