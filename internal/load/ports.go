package load

import (
	"context"
	"errors"
	"time"
)

// Source describes the conversations of a data set by index. Shape may be slow (it may generate the conversation): it is called ahead of
// use, from one goroutine at a time, in the order of sampling.
type Source interface {
	Len() int
	Shape(index int) (Shape, error)
}

// Growing is a source whose end is not known: Len waits for it.
type Growing interface {
	// Has waits until the conversation is known; false = there are only fewer.
	Has(index int) bool
	// Ordered tells whether conversations start in the order in which they come; else a schedule waits for the last of them.
	Ordered() bool
}

// Shape is what timing needs to know of a conversation.
type Shape struct {
	ID    string
	Turns []TurnTime
}

// TurnTime is when a turn wants to leave.
type TurnTime struct {
	Timestamp *float64 // ms on the trace's clock; nil = none
	Delay     *float64 // ms after the end of the previous answer, ratio applied; nil = none
	Branches  []Branch // sessions that begin when the turn has been answered
	Silent    bool     // nothing is sent, and nothing is counted: the turn only starts others, or waits for them
	// After are turns of other sessions of its graph that had been answered when it was recorded; a replay of agents waits for them.
	After []TurnRef
}

// TurnRef is a turn of a conversation.
type TurnRef struct{ Conversation, Turn int }

// Branch is a session that another one starts. Its first turn leaves after its delay, counted from the answer that started it. Shapes form
// no cycle.
type Branch struct {
	Conversation int // index in the source, at Len or above where it is never drawn
	Shape        *Shape
	Fork         bool // begins with the history of the turn
	Join         int  // turn that waits for its end; 0 = none
	Before       bool // begins when the turn leaves, not when it has been answered
}

// Session is one execution of a conversation.
type Session struct {
	ID           string // correlation id
	Conversation int    // index in the source
	Shape        Shape
	Turns        int      // turns that this session runs; a staged user runs fewer than its conversation has
	From         int      // its first one: those before it are never sent
	Pass         int      // how often the conversation was drawn before
	URL          int      // index of the target, the same for all turns
	Parent       *Session // that started it; nil = it was drawn
	ParentTurn   int      // after which turn
	Fork         bool     // it begins with the parent's history up to that turn
	// State belongs to the executor: history, connection. Turns of a session never overlap.
	State any
}

// Request is one turn, known before it is allowed to leave.
type Request struct {
	Phase   *PhaseInfo
	Session *Session
	Turn    int
}

// PhaseInfo names a phase of the run.
type PhaseInfo struct {
	Name      string
	Index     int // over all phases
	Profiling int // over profiling phases; -1 in warm-up
	Warmup    bool
	Seamless  bool // it follows the one before it at once
	Mode      Mode
	Primes    bool // its requests are sent for the server's cache alone: answers of one token are enough
}

// Issue is the permission to send, given at the instant itself.
type Issue struct {
	Number   int64 // of the request in its phase, from 0
	Intended int64 // the instant at which the schedule wanted it to leave; 0 = none was asked for (burst)
	Granted  int64 // slots obtained
	At       int64 // the instant right before Fire
	// CancelAfter is how long after the last byte was written the request is to be cut; negative = not at all.
	CancelAfter time.Duration
	Final       bool // nothing is sent after it in this phase
}

// Executor carries requests out. Its methods are called from many goroutines.
type Executor interface {
	// Prepare encodes the request and gets its connection ready; it may take long. It never fails: what went wrong is the outcome.
	// The context ends when the request is to be cut; context.Cause says why (ErrGrace, ErrInterrupted, ErrFailures, ErrPhaseOver, ErrSeen).
	Prepare(ctx context.Context, r *Request) Armed
	// Close ends a session; none of its turns is or will be under way. It must not block.
	Close(s *Session)
}

// Armed is a request that only waits for its instant. Either Discard is called, or Fire and then Wait.
type Armed interface {
	// Fire writes the request. It must not block: it runs on the scheduler's thread. Once the context has ended it writes nothing.
	Fire(issue Issue)
	// Wait reads the answer to its end. It calls firstToken, at most once, at the first content of a streamed answer, with the instant at which that
	// arrived.
	Wait(firstToken func(at int64)) Outcome
	// Discard drops a request that will not be sent. It must not block.
	Discard()
}

// Outcome is how a request ended.
type Outcome struct {
	Failed    bool // an error record, a request cut by Cancellation included
	Cancelled bool // cut because its context ended
	Overflow  bool // the prompt is longer than the model's context
	// NoConnection tells that the server was not reached, for a reason that lies outside this machine.
	NoConnection bool
	// Sent is the instant right before the request was written, or its connection was made; 0 = that of Fire.
	Sent int64
	// Arrived is the instant at which the last byte of the answer arrived, by the best clock that there is; 0 = when Wait returned.
	Arrived int64
	// Connecting is for how long, before Sent, a connection was made.
	Connecting time.Duration
}

// Why a request was cut: causes of its context's end.
var (
	ErrGrace       = errors.New("the phase's duration and grace period are over")
	ErrInterrupted = errors.New("the run was interrupted")
	ErrFailures    = errors.New("too many requests failed")
	ErrPhaseOver   = errors.New("the phase is complete")
	ErrSeen        = errors.New("who watches the run has seen enough")
)

// Hooks are called around phases, on the goroutine of Run. Each may be nil.
type Hooks struct {
	// Before is called when the phase is about to start, its first requests ready: its clock runs when the call returns, so that for a phase
	// that is Seamless it should return at once. The context ends with the run; an error ends it, without a request of the phase.
	Before  func(ctx context.Context, p *PhaseInfo) error
	Started func(p *PhaseInfo, at int64) // the phase's clock runs
	// After is called when the phase is complete. With seamless phases that may be after the next one has started, on another goroutine.
	After func(f *PhaseStats)
}
