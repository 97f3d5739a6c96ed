// Package load decides when requests leave: phases, arrival processes, slots, ramps, sessions. The content of a request and its transport are up to
// the Source and the Executor of the caller.
//
// One state machine, guarded by one mutex, makes all decisions (engine.go). It advances when an instant is reached, on the scheduler goroutine with
// its own thread, and when a request returns, on that request's goroutine. Modes are drivers of the machine (one file each): closed loop, request
// rate, fixed schedule, user-centric, agentic replay. Open-loop drivers never wait for answers.
//
// The rules are those of the contract's chapter on timing; numbers such as "6.2" in comments are its sections.
package load

import "time"

// Scenario describes a whole run: its phases in order and their common settings. It is resolved: all command-line defaults are filled in.
type Scenario struct {
	Phases   []Phase
	Sampling Sampling
	URLs     int // number of target URLs, assigned to sessions in turn; 0 = 1
	Share    Share

	CatchUp     time.Duration // lateness above which a rate schedule is re-anchored; 0 = 10 ms, negative = any lateness
	CancelDrain time.Duration // wait for the return of cancelled requests; 0 = 10 s
	FailFast    bool          // end the run when no connection can be made any more and a duration would keep retrying
	// GraphFailFast makes a failed request of a started session the last one of its graph.
	GraphFailFast bool
	ArmLead       time.Duration // how long before its instant a request is prepared; 0 = 50 ms
}

// Phase is one continuous part of the load with its own limits and stop rules.
type Phase struct {
	Name   string
	Warmup bool
	Mode   Mode

	// Settings of the rate mode.
	Pattern    Pattern
	Rate       float64     // requests per second, counting all turns; also the user-centric rate
	Intervals  *Intervals  // of the pattern External
	Smoothness float64     // shape of the gamma distribution; 0 = 1
	Series     []RatePoint // piecewise-linear rate instead of Rate; starts at the end of the rate ramp
	RateRamp   Ramp

	// Limits; 0 = unlimited.
	Concurrency     int // sessions
	ConcurrencyRamp Ramp
	Prefill         int // requests before their first token
	PrefillRamp     Ramp

	Users    int // user-centric
	Moving   MovableQuantity
	Replay   Replay
	Schedule ScheduleZero

	// Stop rules; 0 = none. The first one that applies ends the sending.
	Requests int64
	Sessions int64
	Duration time.Duration
	Grace    time.Duration // wait for answers after Duration; negative = without limit
	Seamless bool          // starts as soon as the phase before has sent everything

	Cancellation     Cancellation
	FailureThreshold *float64 // fraction of failed among finished requests above which the run is aborted; nil = never
}

// Mode is the algorithm of a phase.
type Mode string

// The modes.
const (
	ClosedLoop    Mode = "burst"
	Rate          Mode = "request_rate"
	FixedSchedule Mode = "fixed_schedule"
	UserCentric   Mode = "user_centric"
	AgenticReplay Mode = "agentic_replay"
)

// Pattern is the distribution of the intervals between arrivals.
type Pattern string

// The distributions.
const (
	Constant Pattern = "constant"
	Poisson  Pattern = "poisson"
	Gamma    Pattern = "gamma"
)

// RatePoint is a corner of a rate series.
type RatePoint struct {
	At   float64 // seconds after the start of the series
	Rate float64 // requests per second
}

// Ramp changes a limit or a rate from a start value to its target. The zero Ramp means no ramp.
type Ramp struct {
	Duration time.Duration
	Strategy RampStrategy
	From     float64 // start value; 0 = 1 for limits, and for rates the value after one update step (0.1 s)
}

// RampStrategy is the shape of a ramp.
type RampStrategy string

// The shapes of ramps; "" is linear.
const (
	Linear      RampStrategy = "linear"
	Exponential RampStrategy = "exponential" // progress (t/D)^2
	PoissonRamp RampStrategy = "poisson"     // equal steps at exponential intervals
)

// ScheduleZero is the time of the trace at the start of a fixed-schedule phase.
type ScheduleZero struct {
	Auto  bool    // use the time of the first entry
	Start float64 // otherwise this time, ms
}

// Cancellation cancels requests on purpose. It is never applied in warm-up.
type Cancellation struct {
	Percent float64       // percentage of requests, 0 = off
	Delay   time.Duration // after the request was completely written
}

// Sampling is the order in which conversations are taken.
type Sampling string

// The orders.
const (
	Sequential Sampling = "sequential"
	Random     Sampling = "random"
	Shuffle    Sampling = "shuffle"
)
