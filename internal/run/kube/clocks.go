package kube

import (
	"fmt"
	"time"
)

// clockBounds are the least and the most by which another clock is ahead of that of this computer.
type clockBounds struct{ least, most time.Duration }

// boundsOf returns the bounds of a clock that showed a time at some instant between two instants of this computer. The time was rounded down to a step.
func boundsOf(before, after, shown time.Time, step time.Duration) clockBounds {
	return clockBounds{shown.Sub(after), shown.Add(step).Sub(before)}
}

// differs reports whether the clocks certainly show different times.
func (b clockBounds) differs() bool { return b.least > 0 || b.most < 0 }

// String says how far apart the clocks are.
func (b clockBounds) String() string {
	switch {
	case b.least > 0:
		return fmt.Sprintf("at least %.1f s ahead of this computer", b.least.Seconds())
	case b.most < 0:
		return fmt.Sprintf("at least %.1f s behind this computer", -b.most.Seconds())
	}
	return fmt.Sprintf("within %.1f s of this computer", max(b.most, -b.least).Seconds())
}

// checkClocks compares the clocks of the API server, which stamps what it creates, and of a node with that of this computer.
func checkClocks(server, node *clockBounds) []Check {
	var checks []Check
	if server != nil {
		check := Check{"clock of the API server", Passed, server.String()}
		if server.differs() {
			check.State = Noted
			check.Text += "; latencies are not affected, but log-ins can fail: set the clock of this computer"
		}
		checks = append(checks, check)
	}
	if node != nil {
		check := Check{"clock of a node", Passed, node.String() + "; a run measures the clocks of its pods itself"}
		if node.differs() {
			check.State = Noted
			check.Text += ", so latencies are not affected; but times of pod events and of the server's logs may not match the report: synchronize the nodes"
		}
		checks = append(checks, check)
	}
	return checks
}
