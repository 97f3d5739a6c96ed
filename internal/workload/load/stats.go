package load

import (
	"sync/atomic"
	"time"
)

// PhaseStats are the results of a finished phase. Instants are those of package clock.
type PhaseStats struct {
	Info    PhaseInfo
	Started int64
	SentAll int64 // instant at which sending ended
	Ended   int64

	Sent, Completed, Errors, Cancelled int64 // numbers of requests; Completed includes Errors
	Abandoned                          int64 // cancelled and not returned in time; included in Cancelled
	Fenced                             int64 // granted and not sent because of the fence; included in Cancelled
	Unsent                             int64 // turns of started sessions that were not sent

	SessionsSent, SessionsCompleted, SessionsCancelled int64
	PrefillsReleased                                   int64

	StoppedBy    Stop
	TimedOut     bool // the duration ended the sending
	GraceExpired bool // requests were cancelled at the end of the grace period
	Interrupted  bool
	TooManyFails bool

	IdleJumps   int64         // how often a replay moved everything forward because nothing was in flight
	IdleSkipped time.Duration // total time of these moves

	Branches *BranchStats // nil = no drawn session starts others or waits for them
	Schedule ScheduleStats
	Slots    SlotUse // slot use of a closed loop
}

// Stop is the rule that ended the sending of a phase.
type Stop string

// Reasons for the end of sending.
const (
	StopRequests    Stop = "request count"
	StopSessions    Stop = "session count"
	StopDuration    Stop = "duration"
	StopData        Stop = "end of the data"
	StopInterrupted Stop = "interrupted"
	StopFailures    Stop = "failed-request threshold"
	StopUnreachable Stop = "server unreachable"
	StopSource      Stop = "data set error"
	StopControl     Stop = "control loop ended"
	StopWatcher     Stop = "enough was measured"
	StopFence       Stop = "out of sight of the controller"
)

// ScheduleStats show how well the schedule was followed.
type ScheduleStats struct {
	Precise      bool      // the kernel met the deadlines
	Lag          Histogram // issued minus intended, ns; open-loop modes
	Armed        Histogram // issued minus intended, ns, only for requests that were prepared in time and had their slots
	Own          Histogram // lag of requests that waited for no slot, from the instant at which they could leave, ns
	LateArmed    int64     // requests that had their slots in time but were not prepared
	Ticks        int64     // arrivals of the rate schedule that came due
	TicksSkipped int64     // ticks at which nothing could start
	Reanchors    int64     // re-anchorings because the schedule was checked too late
	CapReanchors int64     // re-anchorings because of a wait for a prefill slot
	LostSeconds  float64   // time of the schedule lost to re-anchoring
	LostArrivals float64   // requests expected in that time
	Expected     float64   // requests that the rate demands in the sending interval: its integral
	Steady       SteadyWindow
	Caps         Caps    // of the sending interval
	SendSeconds  float64 // length of the sending interval
	Answered     int64   // requests that had returned when the sending ended
	LateAnswers  int64   // turns of users that were due before the previous answer had arrived
}

// Caps shows for how long limits of the user were reached, in s.
type Caps struct {
	Seconds        float64 // no session slot was free
	BusySeconds    float64 // of that, every slot was held by a session that was not in its own delay
	PrefillSeconds float64 // no prefill slot was free
}

// Add adds the times of another interval.
func (c *Caps) Add(o Caps) {
	c.Seconds += o.Seconds
	c.BusySeconds += o.BusySeconds
	c.PrefillSeconds += o.PrefillSeconds
}

func (c Caps) minus(o Caps) Caps {
	return Caps{max(0, c.Seconds-o.Seconds), max(0, c.BusySeconds-o.BusySeconds), max(0, c.PrefillSeconds-o.PrefillSeconds)}
}

// SteadyWindow is the part of a phase's sending interval after its ramps.
type SteadyWindow struct {
	Seconds  float64
	Caps     Caps
	Expected float64 // requests that the rate demands
	Planned  float64 // requests that the rate demands of all machines, also of those without statistics; 0 = one process sends all
	Drawn    float64 // arrivals drawn from the distribution, including those lost to re-anchoring
	Sent     int64   // number of drawn arrivals that were sent
	Lost     LostArrivals
}

// LostArrivals counts the arrivals that were not sent, by cause. The remaining unsent arrivals were not due yet, or the data were not available.
type LostArrivals struct {
	Client  float64 // the schedule was re-anchored because it was checked too late
	Cap     float64 // requests in flight held all session slots
	InDelay float64 // all session slots were held, some of them by sessions in their own delays
	Prefill float64 // no prefill slot was free
	NoTurn  float64 // every session was started and none had a turn to send
}

// CapShare returns the fraction of the sending interval without a free session slot.
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
	Sessions   int64 // sessions started
	Turns      int64 // turns of the started sessions
	Finished   int64 // sessions completed
	Cut        int64 // sessions cancelled
	FirstToken int64 // prefill slots released
	Skipped    int64 // ticks skipped
	Reanchors  int64
}

// InFlight returns the number of requests that were sent and have not returned.
func (s *Snapshot) InFlight() int64 { return max(0, s.Sent-s.Completed-s.Cancelled) }

// counters are the live numbers of a phase. They are written under the engine's mutex and may be read anywhere.
type counters struct {
	started, sentAll, ended            atomic.Int64
	sent, completed, errors, cancelled atomic.Int64
	sessions, finished, cutSessions    atomic.Int64
	turns                              atomic.Int64
	prefills, skipped, reanchors       atomic.Int64
}
