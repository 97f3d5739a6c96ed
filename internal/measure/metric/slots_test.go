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
		{"slots that changed", loop(6.27, 6*time.Second), VerdictClientLimited, "5.7 of 6.3 slots"},
		{"nearly whole", loop(7.95, 10*time.Second), VerdictClientLimited, "7 of 8 slots"},
		{"ten of sixteen slots", loop(16, 100*time.Second), VerdictClientLimited, "6 of 16 slots were in use: this machine could not send faster. For 62.5 % of the slots' time"},
		{"one slot", loop(1, time.Second), VerdictClientLimited, "0.9 of 1 slots were in use"},
		{"perhaps more than that", unstamped(loop(16, 400*msec), 16*time.Second), VerdictUncertain, "For up to 10.2 % of the slots' time an answer may have arrived"},
		{"perhaps 4 percent", unstamped(loop(16, 400*msec), 6*time.Second), VerdictValid, "spare capacity"},
		{"perhaps half", unstamped(loop(16, 16*time.Second), 64*time.Second), VerdictClientLimited, "8 to 14 of 16 slots were in use: this machine could not send faster. For 10.0 to 50.0 % of"},
		{"a busy client", func() ClientStats { e := loop(16, 100*time.Second); e.CPUShare = .97; return e }(), VerdictClientLimited, "97 % of its 2 cores"},
		{"nothing succeeded", func() ClientStats { e := loop(16, 100*time.Second); e.Valid, e.Failed = 0, 9; return e }(), VerdictNoResult, ""},
	} {
		v := Assess(c.e, nil, nil)
		if v.Verdict != c.verdict || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %s", c.name, v.Sentence())
		}
		if c.verdict != VerdictUncertain && c.e.IsBottleneck() != (c.verdict == VerdictClientLimited || c.verdict == VerdictNoResult) {
			t.Errorf("%s: hindered %t", c.name, c.e.IsBottleneck())
		}
	}
	if v := Assess(open(), nil, nil); v.SlotLoss() != 0 || v.Verdict != VerdictValid {
		t.Errorf("an open loop: %+v", v)
	}
}

// unstamped returns a client that knows only when it read answers.
func unstamped(e ClientStats, unsure time.Duration) ClientStats {
	e.SlotTimeUnsure = unsure
	return e
}

// TestCaptureHelps: a packet capture is not advised if the kernel stamps nothing, or if it was tried in vain.
func TestCaptureHelps(t *testing.T) {
	e := calm()
	e.ReadDelays = 5
	unix, missing := e, e
	unix.ReadDelays, missing.CaptureMissing = 0, "no permission"
	if !e.captureHelps() || unix.captureHelps() || missing.captureHelps() {
		t.Errorf("%t %t %t", e.captureHelps(), unix.captureHelps(), missing.captureHelps())
	}
	for name, c := range map[string]*ClientStats{"kernel": &e, "unix": &unix} {
		if text := c.doubtClause(nil, 0); strings.Contains(text, "Packet capture") != (c == &e) {
			t.Errorf("%s: %s", name, text)
		}
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

// TestPolledJobs: of a polled job, the sentence names polling as the cause, and neither gaps nor a capture matter.
func TestPolledJobs(t *testing.T) {
	e := calm()
	e.ReadDelays, e.Polled, e.UncertainGaps, e.GapErrorMax = 5, e.Valid, e.Valid, 100*msec
	if text := e.doubtClause(nil, 0); !strings.HasPrefix(text, "aiperf learns only by polling when a job is done") || strings.Contains(text, "capture") {
		t.Error(text)
	}
	if e.gapsDoubtful() || e.lateness() != "An answer may be up to 100 ms late, because a job is polled" {
		t.Errorf("%t, %s", e.gapsDoubtful(), e.lateness())
	}
}
