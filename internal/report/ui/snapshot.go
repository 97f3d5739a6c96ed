// Package ui shows a run while it is in progress. It reads snapshots and does not depend on how load is generated.
package ui

import "time"

// Snapshot is the state of a running phase at one instant.
type Snapshot struct {
	Phase                  string
	Index                  int // of the phase
	Warmup                 bool
	Sent                   int64
	Finished               int64 // errors included
	Errors                 int64
	InFlight               int64
	Cancelled              int64         // included in Finished
	Sessions, SessionsDone int64         // planned, 0 = no limit; and finished so far
	Grace                  time.Duration // for the last answers; negative = no limit
	Began                  time.Time     // wall clock
	Requests               int64         // requests to send; 0 = not limited by count
	Elapsed                time.Duration // since the phase began
	Duration               time.Duration // sending time of the phase, 0 = not limited by time
	Sending                bool          // false once nothing more will be sent (draining)
}

// Share returns the completed share of the phase, 0 to 1; false if nothing limits it.
func (s Snapshot) Share() (float64, bool) {
	share, known := 0.0, false
	if s.Requests > 0 {
		share, known = float64(s.Finished)/float64(s.Requests), true
	}
	if s.Sessions > 0 {
		share, known = max(share, float64(s.SessionsDone)/float64(s.Sessions)), true
	}
	if s.Duration > 0 {
		share, known = max(share, s.Elapsed.Seconds()/s.Duration.Seconds()), true
	}
	return min(share, 1), known
}
