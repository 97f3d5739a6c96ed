package dashboard

import (
	"strings"
	"testing"
)

// TestListen: the last message says which process has the terminal, and the text of a fault after it is kept, whatever it contains.
func TestListen(t *testing.T) {
	for said, want := range map[string]struct {
		shown bool
		fault string
	}{
		"":                                 {},
		"\x01":                             {shown: true},
		"\x01\x02":                         {},
		"\x01\x02\x01":                     {shown: true},
		"\x01panic: a \x02 b\n\ngoroutine": {true, "panic: a \x02 b\n\ngoroutine"},
		"\x02fatal error":                  {false, "fatal error"},
	} {
		if shown, fault := listen(strings.NewReader(said)); shown != want.shown || fault != want.fault {
			t.Errorf("%q: %v, %q", said, shown, fault)
		}
	}
	if _, fault := listen(strings.NewReader("\x01" + strings.Repeat("x", 2*maxFault))); len(fault) != maxFault {
		t.Errorf("%d bytes are kept", len(fault))
	}
}
