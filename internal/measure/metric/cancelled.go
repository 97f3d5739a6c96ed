package metric

import (
	"fmt"
	"slices"
	"time"

	"aiperf/internal/base/terminal"
)

// CancelUse describes the requests that were cancelled because the run was asked to cancel some. They failed, so no latency includes them.
type CancelUse struct {
	CancelWaited time.Duration // longest time that one of them had waited for its answer
}

// cancelledSlow reports whether understated figures would be larger with the cancelled requests: only these are missing, or one of them waited as long
// as one of the figures says.
func (e *ClientStats) cancelledSlow(list []understatement) bool {
	if e.Planned == 0 || e.CutCount == 0 && e.TimedOut == 0 {
		return e.Planned > 0
	}
	return slices.ContainsFunc(list, func(u understatement) bool { return e.CancelWaited.Seconds()*1e3 >= u.atLeast })
}

// cancelledFact says how many requests were cancelled, without its full stop.
func (e *ClientStats) cancelledFact() string {
	return fmt.Sprintf("%s of %s were cancelled after up to %s, as the configuration asks, and no latency includes them",
		terminal.Count(e.Planned), terminal.Plural(e.Valid+e.Failed+e.CutCount, "request"), formatDuration(e.CancelWaited))
}
