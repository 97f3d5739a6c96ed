package cli

import "testing"

func TestLength(t *testing.T) {
	for text, want := range map[string]float64{"2": 2, "1.5": 1.5, "500ms": 0.5, "2m": 120, "1m30s": 90, "0": 0} {
		var l durationValue
		if err := l.Set(text); err != nil || float64(l) != want {
			t.Errorf("%s: %v %v, want %v", text, l, err, want)
		}
	}
	for _, text := range []string{"", "-1", "2 parsecs", "inf", "x"} {
		var l durationValue
		if err := l.Set(text); err == nil {
			t.Errorf("%q is taken as %v", text, l)
		}
	}
}
