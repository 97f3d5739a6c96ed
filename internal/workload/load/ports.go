package load

import (
	"context"
	"errors"
	"time"
)

// Source describes the conversations of a data set by index. Shape may be slow, because it may generate the conversation. It is called ahead of use,
// from one goroutine at a time, in sampling order.
type Source interface {
	Len() int
	Shape(index int) (Shape, error)
}

// OpenEndedSource is a source with an unknown end; Len blocks until the end is known.
type OpenEndedSource interface {
	// Has waits until the conversation is known; false = there are fewer conversations.
	Has(index int) bool
	// Ordered reports whether conversations arrive in the order of their start times. Otherwise a schedule waits for the last of them.
	Ordered() bool
}

// Shape is the part of a conversation that matters for timing.
type Shape struct {
	ID    string
	Turns []TurnTime
}

// TurnTime is the timing of a turn.
type TurnTime struct {
	Timestamp *float64 // ms on the trace's clock; nil = none
	Delay     *float64 // ms after the end of the previous answer, with the ratio applied; nil = none
	Branches  []Branch // sessions that start when the turn was answered
	Silent    bool     // sends nothing and is not counted: the turn only starts other sessions or waits for them
	// After lists turns of other sessions of its graph that were answered when this one was recorded. A replay of agents waits for them.
	After []TurnRef
}

// TurnRef identifies a turn of a conversation.
type TurnRef struct{ Conversation, Turn int }

// Branch is a session that another one starts. Its first turn leaves after its delay, counted from the answer that started it. Shapes form no cycle.
type Branch struct {
	Conversation int // index in the source; at Len or above if it is never drawn
	Shape        *Shape
	Fork         bool // it begins with the history of the turn
	Join         int  // turn that waits for its end; 0 = none
	Before       bool // it begins when the turn is sent, not when it was answered
}

// Session is one execution of a conversation.
type Session struct {
	ID           string // correlation id
	Conversation int    // index in the source
	Shape        Shape
	Turns        int      // number of turns of this session; a staged user sends fewer than its conversation has
	From         int      // index of its first turn; earlier turns are never sent
	Pass         int      // how often the conversation was drawn before
	URL          int      // index of the target, the same for all turns
	Parent       *Session // session that started it; nil = it was drawn
	ParentTurn   int      // turn of the parent that started it
	Fork         bool     // it begins with the parent's history up to that turn
	// State belongs to the executor: history, connection. Turns of a session never overlap.
	State any
}

// Request is one turn, before it is granted.
type Request struct {
	Phase   *PhaseInfo
	Session *Session
	Turn    int
}

// PhaseInfo identifies a phase of the run.
type PhaseInfo struct {
	Name      string
	Index     int // index among all phases
	Profiling int // index among profiling phases; -1 in warm-up
	Warmup    bool
	Seamless  bool // it follows the previous phase at once
	Mode      Mode
	Primes    bool // its requests only warm the server's cache: answers of one token are enough
}

// Issue is the permission to send, given at the instant of sending.
type Issue struct {
	Number   int64 // number of the request in its phase, from 0
	Intended int64 // instant planned by the schedule; 0 = none (closed loop)
	Granted  int64 // instant at which it obtained its slots
	At       int64 // instant just before Fire
	// CancelAfter is the delay from the last written byte until the request is cancelled; negative = never.
	CancelAfter time.Duration
	Final       bool // it is the last request of this phase
}

// Executor sends requests. Its methods are called from many goroutines.
type Executor interface {
	// Prepare encodes the request and gets its connection ready; it may take long. It never fails: errors appear in the outcome. The context ends
	// when the request must be cancelled; context.Cause gives the reason (ErrGrace, ErrInterrupted, ErrFailures, ErrPhaseOver, ErrSeen).
	Prepare(ctx context.Context, r *Request) ArmedRequest
	// Close ends a session none of whose turns is or will be in flight. It must not block.
	Close(s *Session)
}

// ArmedRequest is a prepared request that waits for its instant. The caller calls either Discard, or Fire and then Wait.
type ArmedRequest interface {
	// Fire writes the request. It must not block, because it runs on the scheduler's thread. If the context has ended, it writes nothing.
	Fire(issue Issue)
	// Wait reads the answer to its end and then calls ended, in any goroutine; it may return before. It calls firstToken at most once, at the first
	// content of a streamed answer, with the instant of its arrival.
	Wait(firstToken func(at int64), ended func(Outcome))
	// Discard drops a request that will not be sent. It must not block.
	Discard()
}

// Outcome is how a request ended.
type Outcome struct {
	Failed    bool // an error record, including a request cancelled by Cancellation
	Cancelled bool // cancelled because its context ended
	Overflow  bool // the prompt is longer than the model's context
	// NoConnection means that the server was not reached, for a reason outside this machine.
	NoConnection bool
	// Sent is the instant just before the request was written or its connection was made; 0 = that of Fire.
	Sent int64
	// Arrived is the instant at which the last byte of the answer arrived, by the best available clock; 0 = when ended was called.
	Arrived int64
	// Unseen is by how many ns the last byte may have arrived earlier, because no better clock than the client's read is known.
	Unseen int64
	// Connecting is the time before Sent that making a connection took.
	Connecting time.Duration
}

// Reasons for the cancellation of a request: causes of its context's end.
var (
	ErrGrace       = errors.New("the phase's duration and grace period are over")
	ErrInterrupted = errors.New("the run was interrupted")
	ErrFailures    = errors.New("too many requests failed")
	ErrPhaseOver   = errors.New("the phase is complete")
	ErrSeen        = errors.New("enough was measured")
)

// Hooks are called at the start and end of phases, on the goroutine of Run. Each may be nil.
type Hooks struct {
	// Before is called when the phase is about to start and its first requests are ready. The phase's clock starts when the call returns, so it
	// should return at once for a Seamless phase. The context ends with the run. An error ends the run without a request of the phase.
	Before  func(ctx context.Context, p *PhaseInfo) error
	Started func(p *PhaseInfo, at int64) // the phase's clock has started
	// After is called when the phase is complete. With seamless phases this may be after the next one has started, on another goroutine.
	After func(f *PhaseStats)
}
