package ui

import (
	"fmt"
	"math"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/ui/liveview"
)

// reportedStalls stores which stalls of a phase were reported.
type reportedStalls struct {
	any  bool    // a stall was reported
	at   float64 // start of the last reported stall, s after that of the phase
	over int     // number of finished stalls
}

// sameStall is the tolerance for the start of a stall, s: both values are rounded.
const sameStall = 1e-3

func (n *reportedStalls) reported(at float64) bool { return n.any && math.Abs(n.at-at) < sameStall }

// stalled reports every stall once: when it is detected, or when it ends if that is first. After a stall that was reported while it lasted, another
// sentence says that answers arrive again.
func (t *PlainReporter) stalled(st *liveview.Stall) {
	n := &t.stalls
	if st.Count > n.over {
		n.over = st.Count
		if n.reported(st.PastAt) {
			t.Say(fmt.Sprintf("answers arrive again after %.1f s", st.Past.Seconds()))
		} else {
			n.any, n.at = true, st.PastAt
			t.Warn(fmt.Sprintf("no answer for %.1f s at %.1f s, %s waited", st.Past.Seconds(), st.PastAt, terminal.Plural(st.Waits, "request")))
		}
	}
	if st.Now > 0 && !n.reported(st.NowAt) {
		n.any, n.at = true, st.NowAt
		t.Warn(fmt.Sprintf("no answer for %.1f s, %s", st.Now.Truncate(100*time.Millisecond).Seconds(), liveview.Waiting(st.Waits)))
	}
}
