package render

import (
	"math"
	"strings"
	"testing"
)

// TestUnkerned: a text is drawn in pieces that hold no kerned pair and end where the text is measured to end; T and o of the regular face stand 227 of
// 2048 units nearer than they are wide.
func TestUnkerned(t *testing.T) {
	style := lettering(12, "#000000", false, 0, 0)
	f := fonts().Cache().Lookup(style.Font, style.Font.Size)
	for _, want := range []string{"T|ime to First |T|oken (ms)", "Run |A|verage", "é |T|o", "é\xff", "", "ms"} {
		var parts []string
		list := unkerned(f, strings.ReplaceAll(want, "|", ""))
		for _, l := range list {
			parts = append(parts, l.text)
		}
		if got := strings.Join(parts, "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		last := list[len(list)-1]
		if end, whole := last.at+f.Width(last.text), f.Width(strings.ReplaceAll(want, "|", "")); math.Abs(float64(end-whole)) > 1e-6 {
			t.Errorf("%q ends at %v, measured %v", want, end, whole)
		}
	}
	if list := unkerned(f, "To"); math.Abs(float64(list[1].at-f.Width("T"))+12*227.0/2048) > 1e-6 {
		t.Errorf("the o stands at %v, the T is %v wide", list[1].at, f.Width("T"))
	}
}
