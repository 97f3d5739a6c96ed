package cli

import (
	"io"
	"strings"
	"testing"
)

// TestSignalTexts: the first message becomes the first text, later ones become the second.
func TestSignalTexts(t *testing.T) {
	var out strings.Builder
	s := &signalTexts{out: &out, first: "one", second: "two"}
	for range 3 {
		if n, err := io.WriteString(s, "of a local run"); n != len("of a local run") || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if got := out.String(); got != "\naiperf: one\n\naiperf: two\n\naiperf: two\n" {
		t.Errorf("%q", got)
	}
}
