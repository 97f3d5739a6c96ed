// Package dataset is what is sent: conversations by index, made or read, and the order in which they are taken.
//
// Its packages: synth makes text, media makes pictures, sounds and clips, custom reads the user's files, trace reads recorded traffic, weka
// recorded agents, rows is the line reader that they share, table reads files of rows and columns, agentic generates traces, survey describes and converts files. A
// prompt is made when its conversation is asked for, not all up front, and is the same for the same seed whatever the number of cores.
package dataset

import (
	"math"

	"aiperf/internal/conversation"
)

// Dataset is a source of conversations. Those that are drawn are numbered from 0, those that turns of others start from FirstStarted, so that the
// number of either is known before all are. Its methods may be called from several goroutines.
type Dataset interface {
	// Len is the number of conversations that are drawn, at least 1.
	Len() int
	// Conversation returns conversation i. The value is the caller's own.
	Conversation(i int) *conversation.Conversation
	// Draft returns conversation i as far as somebody wrote it: without the texts that are made when it is asked for; whole = there are
	// none. nil = the whole set is made.
	Draft(i int) (c *conversation.Conversation, whole bool)
	// ID is the session id of conversation i.
	ID(i int) string
	// Timings returns when the turns of conversation i are to leave, without making their texts.
	Timings(i int) []Timing
	// Info describes the whole set.
	Info() Info
}

// FirstStarted is the number of the first conversation that a turn of another one starts.
const FirstStarted = math.MaxInt/2 + 1

// All is the number of conversations of a set, those that others start included.
func All(d Dataset) int { return d.Len() + d.Info().Started }

// Nth is the number of the n-th conversation of a set of which so many are drawn: these come first.
func Nth(n, drawn int) int {
	if n < drawn {
		return n
	}
	return FirstStarted + n - drawn
}

// Position is the opposite of Nth.
func Position(i, drawn int) int {
	if i < FirstStarted {
		return i
	}
	return i - FirstStarted + drawn
}

// Forethought is a dataset whose content takes long to make: it is told which conversations come soon.
type Forethought interface {
	// Ahead begins to make what conversation i needs. It does not wait for it.
	Ahead(i int)
}

// Growing is a dataset that is read while it is used: its end is not known when it is opened. Len and what others say of the whole set wait for
// the end, and then read no further.
type Growing interface {
	// Reach waits until conversation i is known. false = there are only fewer; an error = the rest cannot be read.
	Reach(i int) (bool, error)
	// Known is the number of conversations so far.
	Known() int
	// Ordered tells whether conversations start in the order in which they stand; one that does not is then an error.
	Ordered() bool
	// Close ends the reading.
	Close() error
}

// Abridged is a Growing dataset of which no more need be read than was used: the rest may be long and far away.
type Abridged interface {
	// Abridge ends the reading where it is: Len is what is known. all = everything had been read.
	Abridge() (all bool)
}

// Timing is when a turn is to leave; nil fields were not given.
type Timing struct {
	Timestamp *float64 // ms on the trace's own clock
	Delay     *float64 // ms after the end of the previous turn's answer, already scaled by the delay ratio
	Branches  []conversation.Branch
	Silent    bool                   // nothing is sent
	After     []conversation.TurnRef // turns of other conversations that had been answered when it was recorded
}

// Info describes a dataset as a whole.
type Info struct {
	Type          string            // file type; "synthetic" or "rankings" for generated data
	Stated        bool              // the user named the type, it was not recognised from the content
	Trace         bool              // the type is recorded traffic
	Verbatim      bool              // bodies are sent as they were read
	MadeMedia     bool              // pictures, sounds or clips are made
	LongRows      bool              // they stay in a file, and the first ones are long
	Mode          conversation.Mode // default of the type, "" = the global default
	Turns         int               // over all conversations
	Started       int               // conversations that turns of others start
	Timestamps    bool              // some turn has a timestamp
	Delays        bool              // some turn after the first of its conversation has a delay
	FirstHasTime  bool              // the first record of the file has a timestamp
	UntimedOrigin string            // where the first conversation whose first turn has no timestamp was read, "" = all have one
	OutsideWindow int               // rows that the schedule's window left out
	TooLong       int               // rows left out because their input is above the limit
	Capped        int               // rows whose output length was lowered to the limit
	Warnings      []string          // what the user should know, one line each
}
