// Package dataset defines the data that a run sends: numbered conversations, generated or read from files, and the order in which they are used.
//
// Subpackages: synth generates text. media generates images, audio and video. custom reads the user's files. public reads public datasets. trace
// reads recorded traffic, and weka reads recorded agents. rows is the line reader that they share. table reads tabular files. agentic generates
// traces. convert describes and converts files. extsort adds up values by key with a temporary file.
//
// A prompt is generated when its conversation is requested, not up front. The same seed gives the same prompts, whatever the number of cores.
package dataset

import (
	"math"

	"aiperf/internal/workload/conversation"
)

// Dataset is a source of conversations. Conversations that the sampler draws are numbered from 0. Conversations that a turn of another one starts
// are numbered from FirstStarted, so that the first numbers do not depend on how many of the others there are. All methods are safe for concurrent use.
type Dataset interface {
	// Len returns the number of conversations that can be drawn, at least 1.
	Len() int
	// Conversation returns conversation i. The caller owns the value.
	Conversation(i int) *conversation.Conversation
	// Draft returns the part of conversation i that was written in the data, without generated texts. whole = nothing is generated in it.
	// A nil conversation means that the whole dataset is generated.
	Draft(i int) (c *conversation.Conversation, whole bool)
	// ID returns the session id of conversation i.
	ID(i int) string
	// Timings returns the send times of the turns of conversation i, without generating their texts.
	Timings(i int) []Timing
	// Info describes the whole dataset.
	Info() Info
}

// FirstStarted is the number of the first conversation that is started by a turn of another one.
const FirstStarted = math.MaxInt/2 + 1

// All returns the number of conversations of a dataset, including those that other conversations start.
func All(d Dataset) int { return d.Len() + d.Info().Started }

// Nth returns the number of the n-th conversation, counted from 0. The first ones are those that can be drawn; drawn is how many there are.
func Nth(n, drawn int) int {
	if n < drawn {
		return n
	}
	return FirstStarted + n - drawn
}

// Position is the inverse of Nth.
func Position(i, drawn int) int {
	if i < FirstStarted {
		return i
	}
	return i - FirstStarted + drawn
}

// Preparer is a dataset whose content takes long to generate. It is notified of conversations that are needed soon.
type Preparer interface {
	// Ahead starts to prepare conversation i in the background and returns at once.
	Ahead(i int)
}

// Releaser is a dataset that holds much memory for its conversations.
type Releaser interface {
	// Release gives the memory back. No conversation may be read afterwards.
	Release()
}

// OpenEnded is a dataset that is read while it is used. Its length is unknown when it is opened. Len, Info and other methods about the whole
// dataset wait until the file is read to its end.
type OpenEnded interface {
	// Reach waits until conversation i has been read. It returns false if there are fewer, and an error if the rest cannot be read.
	Reach(i int) (bool, error)
	// Known returns the number of conversations read so far.
	Known() int
	// Ordered reports whether conversations start in file order. One that starts before an earlier one is then an error.
	Ordered() bool
	// Close stops the reading.
	Close() error
}

// PartiallyRead is an OpenEnded dataset that may stop reading once enough is known. The rest may be long and far away.
type PartiallyRead interface {
	// Abridge stops the reading. Len is then what is known. all = everything had been read.
	Abridge() (all bool)
}

// Timing says when a turn is sent. A nil field was not given.
type Timing struct {
	Timestamp *float64 // ms on the clock of the trace
	Delay     *float64 // ms after the end of the previous turn's answer, already scaled by the delay ratio
	Branches  []conversation.Branch
	Silent    bool                   // no request is sent for this turn
	After     []conversation.TurnRef // turns of other conversations that had been answered before this one was recorded
}

// CheckFirst records in the info if the first turn of a conversation has no timestamp, or one below 0. origin returns the position of the turn.
func (f *Info) CheckFirst(timestamp *float64, origin func() string) {
	switch {
	case timestamp == nil && f.UntimedOrigin == "":
		f.UntimedOrigin = origin()
	case timestamp != nil && *timestamp < 0 && f.EarlyOrigin == "":
		f.EarlyOrigin, f.EarlyTime = origin(), *timestamp
	}
}

// Info describes a dataset as a whole.
type Info struct {
	Type          string            // file type; "synthetic" or "rankings" for generated data
	Stated        bool              // the user named the type; otherwise it was detected from the content
	Trace         bool              // the type is recorded traffic
	Verbatim      bool              // request bodies are sent exactly as read
	MadeMedia     bool              // images, audio or video are generated
	LongRows      bool              // rows stay in the file, and the first ones are long
	Mode          conversation.Mode // default mode of the type; "" = the global default
	Turns         int               // total over all conversations
	Started       int               // number of conversations that turns of others start
	Timestamps    bool              // some turn has a timestamp
	Delays        bool              // some turn after the first of its conversation has a delay
	FirstHasTime  bool              // the first record of the file has a timestamp
	UntimedOrigin string            // position of the first conversation whose first turn has no timestamp; "" = all have one
	EarlyOrigin   string            // position of the first conversation whose first timestamp is below 0; "" = there is none
	EarlyTime     float64           // its timestamp, in ms
	OutsideWindow int               // rows skipped because they are outside the window of the schedule
	TooLong       int               // rows skipped because their input is above the limit
	Capped        int               // rows whose output length was lowered to the limit
	Warnings      []string          // messages for the user, one line each
}
