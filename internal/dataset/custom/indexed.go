package custom

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/synth"
	"aiperf/internal/dataset/trace"
)

// keptFile is the size of the largest file whose rows are all kept in memory, in bytes. Of larger ones an index is kept.
var keptFile int64 = 64 << 20

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
// A row is read again when its conversation is asked for. So memory grows by about 30 bytes a row, whatever the rows hold.
type indexed struct {
	Options
	read  func(l *loader, r *rows.Row) entry
	file  *os.File
	media *conversation.Store
	info  dataset.Info

	offsets []int64
	sizes   []uint32
	lines   []uint32
	turns   []uint32  // before each row and after the last one; nil = a row is a turn
	times   []float64 // of every turn, ms, NaN = none; nil = no turn has one
	delays  []float64 // likewise, scaled
	prompts []int32   // of every row, in the sequence; -1 = none; nil = no prompt is made
	models  []uint16  // of every turn; nil = in turn
	lengths []uint32  // drawn output lengths of every turn; nil = not drawn

	made   replayed
	system string
	users  int // prompt of the first user context, -1 = none
	own    int // rows with an id of their own
}

var _ dataset.Dataset = (*indexed)(nil)

// errSessions says that rows belong together: they have to be kept.
var errSessions = errors.New("rows belong together")

// indexable tells whether the rows of a file can be left in it.
func (l *loader) indexable(path string, f Format) bool {
	info, err := os.Stat(path)
	return err == nil && f.entry != nil && info.Mode().IsRegular() && info.Size() > keptFile && !strings.HasSuffix(path, ".gz") &&
		l.Synthesis == nil && !l.StripKnown && l.Fetch == nil && !l.PayloadRows
}

// index reads a file once and keeps where its rows stand.
func (l *loader) index(path string, f Format) (*indexed, error) {
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return nil, err
	}
	x := &indexed{Options: l.Options, read: f.entry, media: l.media.store, users: -1}
	seen := map[uint64]struct{}{} // ids of sessions, hashed
	var fault error
	err = l.rows(path, f.keys, func(r *rows.Row) {
		e := f.entry(l, r)
		clear(l.media.known)
		if fault != nil || e.left || l.faults.Count() > 0 {
			return
		}
		if e.ID != "" {
			x.own++
			h := fnv.New64a()
			_, _ = h.Write([]byte(e.ID)) // it never fails
			if _, again := seen[h.Sum64()]; again {
				fault = errSessions
				return
			}
			seen[h.Sum64()] = struct{}{}
		}
		fault = x.add(l, &e, r, assign)
	})
	switch {
	case err != nil:
		return nil, err
	case l.faults.Count() > 0:
		return nil, l.faults.Err()
	case fault != nil:
		return nil, fault
	case len(x.offsets) == 0:
		return nil, l.nothingLeft(path)
	case x.own > 0 && x.own < len(x.offsets): // the others are counted among themselves
		return nil, errSessions
	}
	if x.file, err = os.Open(path); err != nil {
		return nil, err
	}
	x.info = l.set.info
	return x, x.surround(l)
}

// add notes a row.
func (x *indexed) add(l *loader, e *entry, r *rows.Row, assign *dataset.Assigner) error {
	n := len(x.offsets)
	x.offsets = append(x.offsets, r.Line.Offset)
	x.sizes = append(x.sizes, uint32(len(r.Line.Text)))
	x.lines = append(x.lines, uint32(r.Line.Number))
	info := &l.set.info
	first := info.Turns
	if e.Turns[0].Timestamp == nil && info.UntimedOrigin == "" {
		info.UntimedOrigin = r.Where
	}
	if len(e.Turns) > 1 && x.turns == nil {
		x.turns = make([]uint32, n+1)
		for i := range x.turns {
			x.turns[i] = uint32(i)
		}
	}
	for k := range e.Turns {
		t := &e.Turns[k]
		info.Timestamps = info.Timestamps || t.Timestamp != nil
		info.Delays = info.Delays || k > 0 && t.Delay != nil
		note(&x.times, t.Timestamp, first+k)
		note(&x.delays, t.Delay, first+k)
		if model := assign.Model(); assign.Strategy == dataset.RandomModels {
			x.models = append(x.models, uint16(model))
		}
		x.draw(t, assign, first+k)
	}
	info.Turns += len(e.Turns)
	if x.turns != nil {
		x.turns = append(x.turns, uint32(info.Turns))
	}
	if e.prompt.InputLength == 0 {
		if x.prompts != nil {
			x.prompts = append(x.prompts, -1)
		}
		return nil
	}
	if err := l.openBlocks(&x.made, e.block); err != nil {
		return err
	}
	for len(x.prompts) < n {
		x.prompts = append(x.prompts, -1)
	}
	x.prompts = append(x.prompts, int32(x.made.turn(&e.prompt, e.block).sequence))
	return nil
}

// draw draws the output length of a turn that has none.
func (x *indexed) draw(t *conversation.Turn, assign *dataset.Assigner, at int) {
	if t.MaxTokens != nil {
		return
	}
	n := assign.MaxTokens()
	if n == 0 || t.RawPayload != nil || assign.OSL.StdDev <= 0 {
		return
	}
	for len(x.lengths) < at {
		x.lengths = append(x.lengths, 0)
	}
	x.lengths = append(x.lengths, uint32(n))
}

// note puts a value at a place of a column, which begins with the first value there is.
func note(column *[]float64, value *float64, at int) {
	if value == nil && *column == nil {
		return
	}
	for len(*column) < at {
		*column = append(*column, math.NaN())
	}
	if value == nil {
		*column = append(*column, math.NaN())
	} else {
		*column = append(*column, *value)
	}
}

// noted is the value at a place of a column.
func noted(column []float64, at int) *float64 {
	if at >= len(column) || math.IsNaN(column[at]) {
		return nil
	}
	v := column[at]
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
		for i := 0; l.Context.User > 0 && i < len(x.offsets); i++ {
			if n := texts.Add(l.Context.User, synth.NoPrefix); i == 0 {
				x.users = n
			}
		}
	}
	if x.system != "" {
		if e := x.entry(0); e.Turns[0].RawPayload != nil {
			return bodyTakesNoSystem(e.Turns[0].Origin, l.Spell)
		}
	}
	return nil
}

// entry reads row i again.
func (x *indexed) entry(i int) entry {
	text := make([]byte, x.sizes[i])
	if _, err := x.file.ReadAt(text, x.offsets[i]); err != nil {
		panic(fmt.Sprintf("%s was changed while it was used: %v", x.file.Name(), err))
	}
	l := &loader{Options: x.Options, set: &Dataset{info: x.info}, media: &library{store: x.media, known: map[mediaKey]*conversation.Blob{}}}
	line := rows.Line{Path: x.file.Name(), Number: int(x.lines[i]), Offset: x.offsets[i], Text: text}
	var e entry
	rows.Each(&l.faults, func(r *rows.Row) { e = x.read(l, r) })(line)
	if err := l.faults.Err(); err != nil {
		panic(fmt.Sprintf("%s was changed while it was used: %v", x.file.Name(), err))
	}
	return e
}

// firstTurn is the number of turns before row i.
func (x *indexed) firstTurn(i int) int {
	if x.turns == nil {
		return i
	}
	return int(x.turns[i])
}

// Len is the number of conversations.
func (x *indexed) Len() int { return len(x.offsets) }

// Info describes the set.
func (x *indexed) Info() dataset.Info { return x.info }

// Inexact is the number of prompts so far that could not be made exactly as long as asked for.
func (x *indexed) Inexact() int {
	if x.made.texts == nil {
		return 0
	}
	return x.made.texts.Inexact()
}

// Timings returns the times of conversation i.
func (x *indexed) Timings(i int) []dataset.Timing {
	first := x.firstTurn(i)
	out := make([]dataset.Timing, x.firstTurn(i+1)-first)
	for k := range out {
		out[k] = dataset.Timing{Timestamp: noted(x.times, first+k), Delay: noted(x.delays, first+k)}
	}
	return out
}

// ID is the session id of conversation i.
func (x *indexed) ID(i int) string {
	if x.own == 0 {
		return dataset.SessionID(x.Root, i)
	}
	return x.entry(i).ID
}

// Conversation returns conversation i.
func (x *indexed) Conversation(i int) *conversation.Conversation {
	c, e := x.draft(i)
	if e.prompt.InputLength > 0 {
		text := x.made.text(made{sequence: int(x.prompts[i]), ids: e.prompt.HashIDs, length: e.prompt.InputLength})
		c.Turns[0].Parts = conversation.Texts("text", text)
	}
	if x.users >= 0 {
		c.UserContext = x.made.texts.Text(x.users + i)
	}
	return c
}

// Draft returns conversation i without the texts that are made.
func (x *indexed) Draft(i int) (c *conversation.Conversation, whole bool) {
	c, e := x.draft(i)
	return c, e.prompt.InputLength == 0 && x.users < 0
}

func (x *indexed) draft(i int) (*conversation.Conversation, entry) {
	e := x.entry(i)
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
		case x.models != nil:
			t.Model = x.Assignment.Models[x.models[at]]
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
	case osl.StdDev <= 0:
		return osl.Mean
	}
	return int(x.lengths[at])
}
