package custom

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/synth"
	"aiperf/internal/dataset/trace"
)

// keptFile is the size of the largest file whose rows are all kept in memory, in bytes. Of larger ones an index is kept.
var keptFile int64 = 8 << 20

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
	users  int  // prompt of the first user context, -1 = none
	own    int  // rows with an id of their own
	hashed bool // the first row has hash ids

	gate  *sync.Cond // of who reads the file; its lock is mu's for writers
	asked int        // rows that somebody asked for
	whole bool       // all are asked for
	ended bool       // no row comes any more
	fault error      // why
}

var _ interface {
	dataset.Dataset
	dataset.Growing
} = (*indexed)(nil)

// readAhead is how many rows are read before they are asked for.
const readAhead = 4096

// errSessions says that rows belong together: they have to be kept.
var errSessions = errors.New("rows belong together")

// indexable tells whether the rows of a file can be left in it.
func (l *loader) indexable(path string, f Format) bool {
	info, err := os.Stat(path)
	return err == nil && f.entry != nil && info.Mode().IsRegular() && info.Size() > keptFile && !strings.HasSuffix(path, ".gz") &&
		l.Synthesis == nil && !l.StripKnown && l.Fetch == nil && !l.PayloadRows
}

// index reads a file once and keeps where its rows stand. It returns when it has done so, or, where rows are used as they stand (Options.Early),
// when the first is there.
func (l *loader) index(path string, f Format) (*indexed, error) {
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return nil, err
	}
	x := &indexed{Options: l.Options, read: f.entry, media: l.media.store, users: -1}
	x.grew, x.gate = sync.NewCond(x.mu.RLocker()), sync.NewCond(&x.mu)
	if x.file, err = os.Open(path); err != nil {
		return nil, err
	}
	early := l.Early && l.Context.User == 0
	x.whole = !early
	go x.fill(l, path, f, assign)
	if _, err := x.Reach(0); err != nil {
		return nil, errors.Join(err, x.file.Close())
	}
	// Ids of their own may be those of rows that are far behind, and what hash ids stand for depends on the bytes of the whole file.
	if first := x.row(0); !early || first.ID != "" || first.prompt.HashIDs != nil {
		if err := x.end(); err != nil {
			return nil, errors.Join(err, x.file.Close())
		}
	}
	return x, x.surround(l)
}

// fill reads the file, as far ahead as it may.
func (x *indexed) fill(l *loader, path string, f Format, assign *dataset.Assigner) {
	seen := map[uint64]struct{}{} // ids of sessions, hashed
	var fault error
	err := l.rowsWhile(path, f.keys, func(r *rows.Row) {
		e := f.entry(l, r)
		clear(l.media.known)
		if fault != nil || e.left || l.faults.Count() > 0 {
			return
		}
		if e.ID != "" {
			h := fnv.New64a()
			_, _ = h.Write([]byte(e.ID)) // it never fails
			if _, again := seen[h.Sum64()]; again {
				fault = errSessions
				return
			}
			seen[h.Sum64()] = struct{}{}
		}
		x.mu.Lock()
		if fault = x.late(&e, r.Where); fault == nil {
			fault = x.add(l, &e, r, assign)
		}
		x.mu.Unlock()
		x.grew.Broadcast()
	}, func() bool { return fault == nil && x.goOn(l) })
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case err != nil:
		fault = err
	case l.faults.Count() > 0:
		fault = l.faults.Err()
	case fault != nil:
	case len(x.offsets) == 0:
		fault = l.nothingLeft(path)
	case x.own > 0 && x.own < len(x.offsets): // the others are counted among themselves
		fault = errSessions
	}
	if x.fault == nil { // else it was closed
		x.fault = fault
	}
	x.ended, x.info = true, l.set.info
	x.grew.Broadcast()
}

// late refuses a row that would have needed the whole file to be read first, which nobody knew when the first row was sent.
func (x *indexed) late(e *entry, where string) error {
	field := ""
	switch {
	case len(x.offsets) == 0:
		x.hashed = e.prompt.HashIDs != nil
	case x.whole:
	case e.ID != "" && x.own == 0:
		field = "session_id"
	case e.prompt.HashIDs != nil && !x.hashed:
		field = "hash_ids"
	}
	if field == "" {
		return nil
	}
	return fmt.Errorf("%s: %s: the first row has none, and the file is sent while it is read; put a row with them first", where, field)
}

// goOn waits until more rows are asked for. false = none will be.
func (x *indexed) goOn(l *loader) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.offsets) <= 1 {
		if x.info = l.set.info; l.unknown != "" {
			x.info.Warnings = append(slices.Clone(x.info.Warnings), l.unknown)
		}
	}
	for !x.whole && x.fault == nil && len(x.offsets) >= x.asked+readAhead {
		x.gate.Wait()
	}
	return x.fault == nil && (x.whole || l.faults.Count() == 0)
}

// ask says that so many rows are wanted, all = every one.
func (x *indexed) ask(n int, all bool) {
	x.mu.Lock()
	x.asked, x.whole = max(x.asked, n), x.whole || all
	x.mu.Unlock()
	x.gate.Broadcast()
}

// Reach waits until row i is known.
func (x *indexed) Reach(i int) (bool, error) {
	x.ask(i+1, false)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for len(x.offsets) <= i && !x.ended {
		x.grew.Wait()
	}
	if len(x.offsets) > i {
		return true, nil
	}
	return false, x.fault
}

// end reads the rest.
func (x *indexed) end() error {
	x.ask(0, true)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for !x.ended {
		x.grew.Wait()
	}
	return x.fault
}

// Known is the number of rows so far.
func (x *indexed) Known() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.offsets)
}

// errClosed is why a set has no more rows that is not used any more.
var errClosed = errors.New("the file was closed")

// Close ends the reading of the file.
func (x *indexed) Close() error {
	x.mu.Lock()
	if !x.ended && x.fault == nil {
		x.fault = errClosed
	}
	x.mu.Unlock()
	x.gate.Broadcast()
	return x.file.Close()
}

// add notes a row.
func (x *indexed) add(l *loader, e *entry, r *rows.Row, assign *dataset.Assigner) error {
	n := len(x.offsets)
	x.offsets = append(x.offsets, r.Line.Offset)
	x.sizes = append(x.sizes, uint32(len(r.Line.Text)))
	x.lines = append(x.lines, uint32(r.Line.Number))
	info := &l.set.info
	first := info.Turns
	if e.ID != "" {
		x.own++
	}
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
		if e := x.row(0); e.Turns[0].RawPayload != nil {
			return bodyTakesNoSystem(e.Turns[0].Origin, l.Spell)
		}
	}
	return nil
}

// row reads row i again.
func (x *indexed) row(i int) entry {
	x.mu.RLock()
	offset, size, number, info := x.offsets[i], x.sizes[i], x.lines[i], x.info
	x.mu.RUnlock()
	text := make([]byte, size)
	if _, err := x.file.ReadAt(text, offset); err != nil {
		panic(fmt.Sprintf("%s was changed while it was used: %v", x.file.Name(), err))
	}
	l := &loader{Options: x.Options, set: &Dataset{info: info}, media: &library{store: x.media, known: map[mediaKey]*conversation.Blob{}}}
	line := rows.Line{Path: x.file.Name(), Number: int(number), Offset: offset, Text: text}
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
		out[k] = dataset.Timing{Timestamp: noted(x.times, first+k), Delay: noted(x.delays, first+k)}
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
	return x.made.text(made{sequence: int(x.prompts[i]), ids: e.prompt.HashIDs, length: e.prompt.InputLength})
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
