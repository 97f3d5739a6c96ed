package metric

import (
	"strings"
	"testing"
	"time"
)

// TestSlots: the share of slot time that the client lost decides, whatever else went well; an open loop has no slots.
func TestSlots(t *testing.T) {
	loop := func(slots float64, lost time.Duration) ClientStats {
		e := calm()
		e.SlotUse = SlotUse{Slots: slots, SlotTime: time.Duration(slots * 10e9), SlotTimeLost: lost}
		return e
	}
	for _, c := range []struct {
		name    string
		e       ClientStats
		verdict Verdict
		says    string
	}{
		{"nothing lost", loop(16, 0), VerdictValid, "spare capacity"},
		{"4 percent", loop(16, 6400*msec), VerdictValid, ""},
		{"more than that", loop(16, 6401*msec), VerdictClientLimited, "15 of 16 slots"},
		{"ten of sixteen slots", loop(16, 100*time.Second), VerdictClientLimited, "6 of 16 slots were in use: this machine could not send faster. For 62.5 % of the slots' time"},
		{"one slot", loop(1, time.Second), VerdictClientLimited, "0.9 of 1 slots were in use"},
		{"a busy client", func() ClientStats { e := loop(16, 100*time.Second); e.CPUShare = .97; return e }(), VerdictClientLimited, "97 % of its 2 cores"},
		{"nothing succeeded", func() ClientStats { e := loop(16, 100*time.Second); e.Valid, e.Failed = 0, 9; return e }(), VerdictNoResult, ""},
	} {
		v := Assess(c.e, nil, nil)
		if v.Verdict != c.verdict || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %s", c.name, v.Sentence())
		}
		if c.e.IsBottleneck() != (c.verdict == VerdictClientLimited || c.verdict == VerdictNoResult) {
			t.Errorf("%s: hindered %t", c.name, c.e.IsBottleneck())
		}
	}
	if v := Assess(open(), nil, nil); v.SlotLoss() != 0 || v.Verdict != VerdictValid {
		t.Errorf("an open loop: %+v", v)
	}
}

// TestSlotsAsWords: a number of slots has a decimal only where it says something.
func TestSlotsAsWords(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.04: "0", 0.06: "0.1", 6: "6", 6.04: "6", 6.26: "6.3", 1.99: "2", 9.94: "9.9", 9.97: "10", 10: "10", 12.6: "13"} {
		if got := slots(n); got != want {
			t.Errorf("%g slots are written as %s, want %s", n, got, want)
		}
	}
}
