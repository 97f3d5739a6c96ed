package custom

import (
	"fmt"
	"math"
	"os"
	"sync"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/synth"
	"aiperf/internal/dataset/trace"
)

// entry is the conversation of one row.
type entry struct {
	conversation.Conversation // its ID is that of the row, "" = it has none
	// prompt is what the prompt of its one turn is made from; a length of 0 = it is literal.
	prompt trace.Record
	// block is the number of tokens of a hash id, where the format has such.
	block int
	left  bool // outside the window, or too long
}

// indexed is a dataset whose rows stay in their file: each is a conversation, of which the place in the file is kept, and what timing needs.
// A row is read again when its conversation is asked for. So memory grows by less than a byte a row, by 8 where rows have times and by 16 where
// their prompts are drawn one after the other, whatever the rows hold.
//
// Where the order of the rows is that of their use, the file is read a little ahead of it, so that the first request waits for no other row.
type indexed struct {
	Options
	read  func(l *loader, r *rows.Row) entry
	file  *os.File
	media *conversation.Store

	mu   sync.RWMutex // guards what follows while rows are added
	grew *sync.Cond   // more rows, or the end; its lock is mu's for readers
	info dataset.Info

	places  places
	turns   column[uint32]  // before each row and after the last one; empty = a row is a turn
	times   column[float64] // of every turn, ms, NaN = none; shorter = no further turn has one
	delays  column[float64] // likewise, scaled
	prompts column[int32]   // of every row, in the sequence; -1 = none; shorter = no further row has one
	models  column[uint16]  // of every turn; empty = in turn
	lengths column[uint32]  // drawn output lengths of every turn; shorter = none is drawn

	made   replayed
	system string
	users  int // prompt of the first user context, -1 = none
	own    int // rows with an id of their own

	gate   *sync.Cond // of who reads the file; its lock is mu's for writers
	asked  int        // rows that somebody asked for
	early  bool       // they are read as they are asked for
	whole  bool       // all are asked for
	ended  bool       // no row comes any more
	latest float64    // time of the last row, ms
	fault  error      // why
}

var _ interface {
	dataset.Dataset
	dataset.Growing
} = (*indexed)(nil)

// noted is the value at a place of a column.
func noted(from *column[float64], at int) *float64 {
	v, ok := from.at(at)
	if !ok || math.IsNaN(v) {
		return nil
	}
	return &v
}

// surround makes the system message, and asks for user contexts.
func (x *indexed) surround(l *loader) error {
	x.system = l.Context.System
	if l.Context.SharedSystem > 0 || l.Context.User > 0 {
		texts, err := l.sequence()
		if err != nil {
			return err
		}
		x.made.texts = texts
		if l.Context.SharedSystem > 0 {
			x.system = texts.Text(0)
		}
		for i := 0; l.Context.User > 0 && i < x.places.rows; i++ {
			if n := texts.Add(l.Context.User, synth.NoPrefix); i == 0 {
				x.users = n
			}
		}
	}
	if x.system != "" {
		if e := x.row(0); e.Turns[0].RawPayload != nil {
			return bodyTakesNoSystem(e.Turns[0].Origin, l.Spell)
		}
	}
	return nil
}

// row reads row i again.
func (x *indexed) row(i int) entry {
	x.mu.RLock()
	place, info := x.places.find(i), x.info
	x.mu.RUnlock()
	line, err := place.read(x.file, i)
	if err != nil {
		panic(fmt.Sprintf("%s was changed while it was used: %v", x.file.Name(), err))
	}
	l := &loader{Options: x.Options, set: &Dataset{info: info}, media: &library{store: x.media, known: map[mediaKey]*conversation.Blob{}}}
	var e entry
	rows.Each(&l.faults, func(r *rows.Row) { e = x.read(l, r) })(line)
	if err := l.faults.Err(); err != nil {
		panic(fmt.Sprintf("%s was changed while it was used: %v", x.file.Name(), err))
	}
	return e
}

// firstTurn is the number of turns before row i.
func (x *indexed) firstTurn(i int) int {
	if n, ok := x.turns.at(i); ok {
		return int(n)
	}
	return i
}

// Len is the number of conversations.
func (x *indexed) Len() int {
	_ = x.end() // whoever uses the rows is told
	return x.Known()
}

// Info describes the set, as far as it is known.
func (x *indexed) Info() dataset.Info {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.info
}

// Inexact is the number of prompts so far that could not be made exactly as long as asked for.
func (x *indexed) Inexact() int {
	if x.made.texts == nil {
		return 0
	}
	return x.made.texts.Inexact()
}

// Timings returns the times of conversation i.
func (x *indexed) Timings(i int) []dataset.Timing {
	x.mu.RLock()
	defer x.mu.RUnlock()
	first := x.firstTurn(i)
	out := make([]dataset.Timing, x.firstTurn(i+1)-first)
	for k := range out {
		out[k] = dataset.Timing{Timestamp: noted(&x.times, first+k), Delay: noted(&x.delays, first+k)}
	}
	return out
}

// ID is the session id of conversation i.
func (x *indexed) ID(i int) string {
	x.mu.RLock()
	own := x.own
	x.mu.RUnlock()
	if own == 0 {
		return dataset.SessionID(x.Root, i)
	}
	return x.row(i).ID
}

// Conversation returns conversation i.
func (x *indexed) Conversation(i int) *conversation.Conversation {
	c, e := x.draft(i)
	if e.prompt.InputLength > 0 {
		c.Turns[0].Parts = conversation.Texts("text", x.prompt(i, &e))
	}
	if x.users >= 0 {
		c.UserContext = x.made.texts.Text(x.users + i)
	}
	return c
}

// prompt makes the prompt of row i.
func (x *indexed) prompt(i int, e *entry) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.made.text(made{sequence: x.sequence(i), ids: e.prompt.HashIDs, length: e.prompt.InputLength})
}

// sequence is the prompt of row i in the sequence, -1 = none.
func (x *indexed) sequence(i int) int {
	if n, ok := x.prompts.at(i); ok {
		return int(n)
	}
	return -1
}

// Draft returns conversation i without the texts that are made.
func (x *indexed) Draft(i int) (c *conversation.Conversation, whole bool) {
	c, e := x.draft(i)
	return c, e.prompt.InputLength == 0 && x.users < 0
}

func (x *indexed) draft(i int) (*conversation.Conversation, entry) {
	e := x.row(i)
	x.mu.RLock()
	defer x.mu.RUnlock()
	c := e.Conversation
	if x.own == 0 {
		c.ID = dataset.SessionID(x.Root, i)
	}
	if c.Mode == "" {
		c.Mode = x.info.Mode
	}
	if x.system != "" {
		if c.System != "" {
			c.System = "\n\n" + c.System
		}
		c.System = x.system + c.System
	}
	first := x.firstTurn(i)
	for k := range c.Turns {
		t := &c.Turns[k]
		at := first + k
		switch {
		case t.Model != "":
		case x.models.n > 0:
			model, _ := x.models.at(at)
			t.Model = x.Assignment.Models[model]
		default:
			t.Model = x.Assignment.Models[at%len(x.Assignment.Models)]
		}
		if t.MaxTokens == nil && t.RawPayload == nil {
			if n := x.maxTokens(at); n > 0 {
				t.MaxTokens = &n
			}
		}
	}
	return &c, e
}

// maxTokens is the output length of a turn that states none; 0 = none is asked for.
func (x *indexed) maxTokens(at int) int {
	osl := x.Assignment.OSL
	switch {
	case osl == nil || osl.Mean < 1:
		return 0
	case osl.Fixed():
		return osl.Mean
	}
	n, _ := x.lengths.at(at)
	return int(n)
}
