// Package load decides when requests leave: phases, arrival processes, slots, ramps, sessions. What a request says, and how it travels,
// is the business of the Source and the Executor that the caller brings.
//
// One state machine, guarded by one mutex, holds everything that decides (engine.go). It advances when an instant is reached, which the
// scheduler goroutine sees to on a thread of its own, and when a request returns, on that request's goroutine. Modes are drivers of that
// machine (one file each): burst, request rate, fixed schedule, user-centric, agentic replay. Open-loop drivers never wait for answers.
//
// The rules are those of the contract's chapter on timing; numbers such as "6.2" in comments are its sections.
package load

import (
	"time"
)

// Scenario is a whole run: its phases in order and what they share. It is resolved: every default of the command line is filled in.
type Scenario struct {
	Phases   []Phase
	Sampling Sampling
	URLs     int // number of target URLs, taken in turn by sessions; 0 = 1

	CatchUp     time.Duration // lateness above which a rate schedule is re-anchored; 0 = 10 ms, negative = none
	CancelDrain time.Duration // wait for the returns of requests that were cut; 0 = 10 s
	FailFast    bool          // end the run when no connection can be made any more and a duration would go on making them
	// GraphFailFast: a failed request of a session that another one started is the last of its graph.
	GraphFailFast bool
	ArmLead       time.Duration // how long before its instant a request is prepared; 0 = 50 ms
}

// Phase is one contiguous stretch of load with its own limits and stop rules.
type Phase struct {
	Name   string
	Warmup bool
	Mode   Mode

	// Rate mode.
	Pattern    Pattern
	Rate       float64     // requests per second, all turns counted; also the user-centric rate
	Smoothness float64     // shape of the gamma distribution; 0 = 1
	Series     []RatePoint // piecewise-linear rate, in place of Rate; begins when the rate ramp ends
	RateRamp   Ramp

	// Limits; 0 = unlimited.
	Concurrency     int // sessions
	ConcurrencyRamp Ramp
	Prefill         int // requests before their first token
	PrefillRamp     Ramp

	Users    int // user-centric
	Moving   Moving
	Replay   Replay
	Schedule ScheduleZero

	// Stop rules; 0 = none. The first to fire ends the sending.
	Requests int64
	Sessions int64
	Duration time.Duration
	Grace    time.Duration // after Duration; negative = without limit
	Seamless bool          // starts as soon as the phase before has sent everything

	Cancellation     Cancellation
	FailureThreshold *float64 // share of failed among finished requests above which the run is aborted; nil = never
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

// Ramp moves a limit or a rate from a start value to its target. The zero Ramp is no ramp.
type Ramp struct {
	Duration time.Duration
	Strategy RampStrategy
	From     float64 // start value; 0 = 1 for limits, one update step (0.1 s) up the ramp for rates
}

// RampStrategy is the distribution of a ramp.
type RampStrategy string

// The distributions of ramps; "" is linear.
const (
	Linear      RampStrategy = "linear"
	Exponential RampStrategy = "exponential" // progress (t/D)^2
	PoissonRamp RampStrategy = "poisson"     // equal steps at exponential intervals
)

// ScheduleZero says which time of the trace is the start of a fixed-schedule phase.
type ScheduleZero struct {
	Auto  bool    // the first entry's
	Start float64 // else this one, ms
}

// Cancellation cuts requests on purpose. Never applied in warm-up.
type Cancellation struct {
	Percent float64       // share of requests, 0 = off
	Delay   time.Duration // after the request was fully written
}

// Sampling is the order in which conversations are taken.
type Sampling string

// The orders.
const (
	Sequential Sampling = "sequential"
	Random     Sampling = "random"
	Shuffle    Sampling = "shuffle"
)
