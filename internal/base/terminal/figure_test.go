package terminal

import (
	"math"
	"testing"
)

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		9.02: "9.02", 34.5: "34.5", 119.6: "120", 2488.2: "2,488", 0: "0", 0.0123: "0.0123", 99.96: "100", 9.996: "10.0", 1e6: "1,000,000", -12.34: "-12.3",
	} {
		if got := Figure(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	if got := Figure(math.NaN()); got != "–" {
		t.Errorf("nothing is %s", got)
	}
}

func TestThousands(t *testing.T) {
	for number, want := range map[string]string{"0": "0", "999": "999", "1000": "1,000", "-1234567.25": "-1,234,567.25", "-100": "-100", "1234.5678": "1,234.5678", "+Inf": "+Inf", "NaN": "NaN", "1e+20": "1e+20"} {
		if got := Thousands(number); got != want {
			t.Errorf("%s: %s, want %s", number, got, want)
		}
	}
	if got := Count(int64(8269)); got != "8,269" {
		t.Error(got)
	}
}
