package load

import (
	"sync/atomic"
	"time"
)

// PhaseStats are what a finished phase says about itself. Instants are those of package clock.
type PhaseStats struct {
	Info    PhaseInfo
	Started int64
	SentAll int64 // sending complete
	Ended   int64

	Sent, Completed, Errors, Cancelled int64 // requests; errors are a part of the completed
	Abandoned                          int64 // cut, and not returned in time; a part of the cancelled
	Unsent                             int64 // turns of started sessions that were never sent

	SessionsSent, SessionsCompleted, SessionsCancelled int64
	PrefillsReleased                                   int64

	StoppedBy    Stop
	TimedOut     bool // the duration ended the sending
	GraceExpired bool // requests were cut at the end of the grace period
	Interrupted  bool
	TooManyFails bool

	IdleJumps   int64         // times at which a replay moved everything forward, because nothing was under way
	IdleSkipped time.Duration // by how much in all

	Branches *BranchStats // nil = no session that was drawn starts others, or waits for them
	Schedule ScheduleStats
	Slots    SlotUse // of a closed loop
}

// Stop is the rule that ended the sending of a phase.
type Stop string

// What ends the sending.
const (
	StopRequests    Stop = "request count"
	StopSessions    Stop = "session count"
	StopDuration    Stop = "duration"
	StopData        Stop = "end of the data"
	StopInterrupted Stop = "interrupted"
	StopFailures    Stop = "failed-request threshold"
	StopUnreachable Stop = "server unreachable"
	StopSource      Stop = "data set error"
	StopControl     Stop = "its control loop was done"
	StopWatcher     Stop = "its watcher had seen enough"
)

// ScheduleStats tell how well the schedule was kept.
type ScheduleStats struct {
	Precise      bool      // the kernel kept the deadlines
	Lag          Histogram // issued minus intended, ns; open-loop modes
	Armed        Histogram // issued minus intended of those requests alone that were prepared in time and had their slots, ns
	Own          Histogram // lag of those that waited for no slot, from when they could leave, ns
	LateArmed    int64     // requests that had their slots in time and were not prepared then
	Ticks        int64     // arrivals of the rate schedule that came due
	TicksSkipped int64     // of these, the ones at which nothing could start
	Reanchors    int64     // because nobody looked at the schedule in time
	CapReanchors int64     // because of a wait for a prefill slot
	LostSeconds  float64   // schedule lost to re-anchoring
	LostArrivals float64   // requests expected in it
	Expected     float64   // requests that the rate asks for in the sending interval: its integral
	Steady       Steady
	Caps         Caps    // while sending
	SendSeconds  float64 // length of the sending interval
	Answered     int64   // requests that had returned when the sending ended
	LateAnswers  int64   // turns of users that were due before the answer to the turn before was there
}

// Caps is for how long limits of the user were reached, in s.
type Caps struct {
	Seconds        float64 // no session slot was free
	BusySeconds    float64 // and none would have been without the sessions that were in a delay of their own
	PrefillSeconds float64 // no prefill slot was free
}

// Add adds another stretch of time.
func (c *Caps) Add(o Caps) {
	c.Seconds += o.Seconds
	c.BusySeconds += o.BusySeconds
	c.PrefillSeconds += o.PrefillSeconds
}

func (c Caps) minus(o Caps) Caps {
	return Caps{max(0, c.Seconds-o.Seconds), max(0, c.BusySeconds-o.BusySeconds), max(0, c.PrefillSeconds-o.PrefillSeconds)}
}

// Steady is the part of a phase's sending interval after its ramps.
type Steady struct {
	Seconds  float64
	Caps     Caps
	Expected float64 // requests that the rate asks for
	Drawn    float64 // arrivals that the distribution drew, those lost to re-anchoring included
	Sent     int64   // of the arrivals drawn
	Lost     Lost
}

// Lost are the arrivals that were not sent, by what kept them. The rest of them was not due yet, or the data was not there.
type Lost struct {
	Client  float64 // the schedule was given up because nobody looked at it in time
	Cap     float64 // all session slots were held by requests under way
	Rest    float64 // all session slots were held, by sessions in delays of their own among others
	Prefill float64 // no prefill slot was free
	NoTurn  float64 // every session had been started, and none of them had a turn to send
}

// CapShare is the share of the sending interval without a free session slot.
func (s *ScheduleStats) CapShare() float64 {
	if s.SendSeconds <= 0 {
		return 0
	}
	return s.Caps.Seconds / s.SendSeconds
}

// Snapshot is the state of the current phase, for a live view.
type Snapshot struct {
	Info       *PhaseInfo // nil before the first phase
	Phase      *Phase
	Started    int64 // 0 = not yet
	SentAll    int64 // 0 = still sending
	Ended      int64 // 0 = not yet
	Sent       int64
	Completed  int64
	Errors     int64
	Cancelled  int64
	Sessions   int64 // started
	Turns      int64 // that the started sessions have
	Finished   int64 // sessions completed
	Cut        int64 // sessions cancelled
	FirstToken int64 // prefills released
	Skipped    int64 // ticks
	Reanchors  int64
}

// InFlight is the number of requests that were sent and have not returned.
func (s *Snapshot) InFlight() int64 { return max(0, s.Sent-s.Completed-s.Cancelled) }

// counters are the live numbers of a phase: written under the engine's mutex, read by anybody.
type counters struct {
	started, sentAll, ended            atomic.Int64
	sent, completed, errors, cancelled atomic.Int64
	sessions, finished, cutSessions    atomic.Int64
	turns                              atomic.Int64
	prefills, skipped, reanchors       atomic.Int64
}
