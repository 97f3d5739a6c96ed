package metric

import (
	"strings"
	"testing"
	"time"
)

// TestQuotaIsNamed: a client that its CPU quota stopped does not read that other programs kept the cores busy, and the share of its CPUs is that of the
// quota.
func TestQuotaIsNamed(t *testing.T) {
	const others = "kept the cores busy"
	e := calm()
	e.ThreadWait, e.ReadDelayP99, e.Pressure = 99*time.Second, 90*time.Millisecond, 50
	if notes := strings.Join(Assess(e, nil, nil).Notes, " "); !strings.Contains(notes, others) || !strings.Contains(notes, "A server on this machine") || strings.Contains(notes, "quota") {
		t.Error("without a quota:", notes)
	}
	e.QuotaUse = QuotaUse{QuotaCores: 0.5, QuotaPeriod: 100 * time.Millisecond, QuotaPeriods: 60, QuotaStops: 3}
	if notes := strings.Join(Assess(e, nil, nil).Notes, " "); !strings.Contains(notes, others) || strings.Contains(notes, "quota") {
		t.Error("5 % of the periods:", notes)
	}
	e.QuotaStops = 43
	clause := "its CPU quota (0.5 cores) stopped it in 43 of 60 periods of 100 ms"
	if notes := strings.Join(Assess(e, nil, nil).Notes, " "); !strings.Contains(notes, clause) || strings.Contains(notes, others) || strings.Contains(notes, "A server on this machine") {
		t.Error(notes)
	}
	e.Stalls, e.StallLongest = 1, 19*time.Millisecond
	if text := e.lateReads() + e.behindClause(); strings.Count(text, clause) != 2 || strings.Contains(text, "stopped once") {
		t.Error(text)
	}
	e.CPUShare = 0.97
	if v := Assess(e, nil, nil); v.Verdict != VerdictClientLimited || !strings.Contains(v.Reason, "97 % of its quota of 0.5 cores") || e.shortFault() != "97 % of a quota of 0.5 cores used" {
		t.Error(v.Verdict, v.Reason, e.shortFault())
	}
	e.QuotaCores = 4 // more than the 2 cores
	if v := Assess(e, nil, nil); !strings.Contains(v.Reason, "97 % of its 2 cores") {
		t.Error(v.Reason)
	}
}

// TestWorseQuota: of several machines the quota that stopped its machine more is shown.
func TestWorseQuota(t *testing.T) {
	none, calm, bad := QuotaUse{}, QuotaUse{QuotaCores: 2, QuotaPeriods: 10}, QuotaUse{QuotaCores: 1, QuotaPeriods: 100, QuotaStops: 50}
	for i, q := range []QuotaUse{none, calm, bad} {
		for k, o := range []QuotaUse{none, calm, bad} {
			if got := q.StoppedMore(&o); got != (i > k) {
				t.Errorf("%d more than %d: %t", i, k, got)
			}
		}
	}
}
