package metric

import (
	"fmt"
	"time"

	"aiperf/internal/base/terminal"
)

// QuotaUse holds the CPU quota of the client's control group, for example the limit of its container, and how often it was used up. The system counts
// periods of the whole group. All figures are zero if there is no quota, or if the system reports none.
type QuotaUse struct {
	QuotaCores   float64       // CPU time per second of wall time
	QuotaPeriod  time.Duration // length of a period; a group that has used its share stops until the next one
	QuotaPeriods int64         // periods during the measured phases in which the group ran
	QuotaStops   int64         // of them, periods in which it was stopped
}

// stoppedPeriods is the share of the periods from which stops by the quota explain waits of the client. It is the limit of aiperf doctor.
const stoppedPeriods = 0.05

// throttled reports whether the quota stopped the client often.
func (q *QuotaUse) throttled() bool {
	return float64(q.QuotaStops) > stoppedPeriods*float64(q.QuotaPeriods)
}

// stopClause says how often the quota stopped the client.
func (q *QuotaUse) stopClause() string {
	return fmt.Sprintf("its CPU quota (%s) stopped it in %s of %s of %s", q.quota(), terminal.Count(q.QuotaStops), terminal.Plural(q.QuotaPeriods, "period"), formatDuration(q.QuotaPeriod))
}

func (q *QuotaUse) quota() string {
	unit := " cores"
	if q.QuotaCores == 1 {
		unit = " core"
	}
	return figure(q.QuotaCores, 3) + unit
}

// limited reports whether the quota is smaller than the cores.
func (e *ClientStats) limited() bool { return e.QuotaCores > 0 && e.QuotaCores < float64(e.Cores) }

// CPUs names the CPU time that the client may use: "2 cores", or "a quota of 0.5 cores". CPUShare is the used share of it.
func (e *ClientStats) CPUs() string {
	if e.limited() {
		return "a quota of " + e.quota()
	}
	return terminal.Plural(int64(e.Cores), "core")
}

// ownCPUs is CPUs for a sentence about the client.
func (e *ClientStats) ownCPUs() string {
	if e.limited() {
		return "its quota of " + e.quota()
	}
	return "its " + e.CPUs()
}

// StoppedMore reports whether the quota stopped its group in a larger share of the periods than another one did. A quota stops more than none.
func (q *QuotaUse) StoppedMore(o *QuotaUse) bool {
	return q.QuotaCores > 0 && (o.QuotaCores == 0 || q.QuotaStops*max(1, o.QuotaPeriods) > o.QuotaStops*max(1, q.QuotaPeriods))
}
