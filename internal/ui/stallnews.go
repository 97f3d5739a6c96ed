package ui

import (
	"fmt"
	"math"
	"time"

	"aiperf/internal/terminal"
	"aiperf/internal/ui/board"
)

// stallNews is what was reported of the stalls of a phase.
type stallNews struct {
	any  bool    // one was reported
	at   float64 // start of the last one that was reported, s after that of the phase
	over int     // stalls that are over
}

// sameStall is how far two starts of one stall may differ, s: both are rounded.
const sameStall = 1e-3

func (n *stallNews) reported(at float64) bool { return n.any && math.Abs(n.at-at) < sameStall }

// stalled reports every stall once: as soon as it is known, or when it is over if it ended before that. A stall that was reported while it lasted
// gets one more sentence, that answers come again.
func (t *Teller) stalled(st *board.Stall) {
	n := &t.stalls
	if st.Count > n.over {
		n.over = st.Count
		if n.reported(st.PastAt) {
			t.Say(fmt.Sprintf("answers come again after %.1f s", st.Past.Seconds()))
		} else {
			n.any, n.at = true, st.PastAt
			t.Warn(fmt.Sprintf("no answer for %.1f s at %.1f s, %s waited", st.Past.Seconds(), st.PastAt, terminal.Plural(st.Waits, "request")))
		}
	}
	if st.Now > 0 && !n.reported(st.NowAt) {
		n.any, n.at = true, st.NowAt
		t.Warn(fmt.Sprintf("no answer for %.1f s, %s", st.Now.Truncate(100*time.Millisecond).Seconds(), board.Waiting(st.Waits)))
	}
}
