package custom

import (
	"math"
	"strconv"
	"sync"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
)

// entry is the content of one row: a conversation or a part of one.
type entry struct {
	conversation.Conversation // its ID comes from the row; "" = none
	// prompt describes the prompt to generate for its only turn; an InputLength of 0 = the prompt is literal.
	prompt trace.Record
	// block is the number of tokens per hash id, in formats with hash ids.
	block int
	size  int  // length of the row in bytes
	left  bool // skipped: outside the window, or too long
	// Set if the window is not known yet: input too long, or output length lowered to the limit.
	long, capped bool
	chat         chat // for formats whose rows name the chat that they continue
	links        []link
	service      float64 // ms until the answer was complete, if recorded
}

// indexed is a dataset whose rows stay in their file. It stores only the position of each row and its times, and reads a row again when its
// conversation is requested. Memory grows by about 1 byte a row, plus 8 if rows have times, 16 if prompts are drawn in sequence and 8 if several rows
// form one conversation. The size of the rows does not matter.
//
// If rows are used in file order, the file is read only a little ahead of its use. The first request then waits for no other row.
type indexed struct {
	Options
	format Format
	from   supply
	path   string
	media  *library

	mu   sync.RWMutex // guards the fields below while rows are added
	grew *sync.Cond   // signals new rows or the end; uses the read lock of mu
	info dataset.Info

	// By row, in file order. A slot is a turn of a row.
	places  rowOffsets
	slots   column[uint32]  // first slot of each row, then the number of slots; empty = each row is one turn
	prompts column[int32]   // index in the sequence; -1 = none; shorter = no further row has one
	marks   column[mark]    // by slot
	times   column[float64] // by slot, ms; NaN = none; shorter = no further turn has one
	delays  column[float64] // by slot, ms, already scaled; NaN = none
	models  column[uint16]  // by slot; empty = there is only one model
	lengths column[uint32]  // drawn output lengths by slot; shorter = none drawn
	wants   column[int32]   // prompt tokens of each row; below 0 = they follow blocks; used until all rows are read

	members  *membership // rows of each conversation; nil = each row is one
	branches *startGraph // conversations that others start; nil = none
	rescaled *rescaling  // nil = rows are sent as recorded
	shift    float64     // ms; subtracted from all times, so that the trace starts at 0
	retimed  bool        // times and delays of rows depend on other rows

	made   replayed
	system string
	users  int // index of the first user context in the sequence; -1 = none
	own    int // number of conversations with an id

	gate   *sync.Cond // the reading goroutine waits here; uses the write lock of mu
	asked  int        // number of rows requested
	early  bool       // rows are read on demand
	whole  bool       // all rows are requested
	ended  bool       // no more rows will come
	latest float64    // ms; time of the last row
	fault  error      // reason of the end
}

var _ interface {
	dataset.Dataset
	dataset.OpenEnded
} = (*indexed)(nil)

// mark holds flags of a turn.
type mark uint8

const (
	hasModel  mark = 1 << iota // the row names its model
	hasLength                  // the row states its output length
	isBody                     // the body is sent unchanged
	isSystem                   // a system turn
	mayLift                    // a system turn that can become the system message
	isLifted                   // a system turn that became the system message
	isSilent
)

// startedConversation is a conversation that a turn of a row starts.
type startedConversation struct {
	turn int
	conversation.Branch
}

// membership lists the rows of each conversation.
type membership struct {
	rows  []uint32 // rows of all conversations, one after the other
	first []uint32 // index in rows of each conversation's first row, then len(rows)
	ids   []int64  // ids of the conversations if rows have none; nil = ids come from the rows or are generated
	bare  []uint32 // for each conversation: number of earlier ones without an id; nil = all have an id or none has
	parts []uint32 // number appended to the id of each conversation that is part of a session; nil = none is
}

// conversations returns the number of conversations so far. The caller holds mu.
func (x *indexed) conversations() int {
	if x.members != nil {
		return len(x.members.first) - 1
	}
	return x.places.rows
}

// rowsOf lists the rows of conversation i. The caller holds mu.
func (x *indexed) rowsOf(i int) []uint32 {
	if m := x.members; m != nil {
		return m.rows[m.first[i]:m.first[i+1]]
	}
	return []uint32{uint32(i)}
}

// firstSlot returns the number of turns before a row.
func (x *indexed) firstSlot(row int) int {
	if n, ok := x.slots.at(row); ok {
		return int(n)
	}
	return row
}

// slotsOf lists the turns of rows, without turns that became system messages.
func (x *indexed) slotsOf(rows []uint32) []int {
	list := make([]int, 0, len(rows))
	for _, row := range rows {
		for slot := x.firstSlot(int(row)); slot < x.firstSlot(int(row)+1); slot++ {
			if m, _ := x.marks.at(slot); m&isLifted == 0 {
				list = append(list, slot)
			}
		}
	}
	return list
}

// columnValue returns a value of a column; nil = none.
func columnValue(from *column[float64], at int) *float64 {
	v, ok := from.at(at)
	if !ok || math.IsNaN(v) {
		return nil
	}
	return &v
}

// row reads a row again.
func (x *indexed) row(row int) entry {
	x.mu.RLock()
	at, info := x.places.find(row), x.info
	x.mu.RUnlock()
	l := reread(x.Options, info, x.media)
	e, err := x.from.again(l, at, row-int(at.row))
	if err != nil {
		panic(changed(x.path, err))
	}
	if x.rescaled != nil {
		x.rescaledEntry(l, row, &e)
	}
	return e
}

// reread returns a loader that reads a row again. What it records is dropped, because the first reading recorded it already.
func reread(o Options, info dataset.Info, media *library) *loader {
	return &loader{Options: o, set: &Dataset{info: info}, media: &library{store: media.store, fetched: media.fetched, known: map[mediaKey]*conversation.Blob{}}}
}

// Len returns the number of conversations that can be drawn. It reads the file to its end.
func (x *indexed) Len() int {
	_ = x.end() // an error is reported to whoever uses the rows
	return x.Known()
}

// drawn returns the number of conversations so far that can be drawn. The caller holds mu.
func (x *indexed) drawn() int { return x.conversations() - x.info.Started }

// Info describes the dataset, as far as it was read.
func (x *indexed) Info() dataset.Info {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.info
}

// Inexact returns the number of prompts so far whose length differs from the requested one.
func (x *indexed) Inexact() int {
	if x.made.texts == nil {
		return 0
	}
	return x.made.texts.Inexact()
}

// Timings returns the send times of conversation i.
func (x *indexed) Timings(i int) []dataset.Timing {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := x.rowsOf(dataset.Position(i, x.drawn()))
	slots := x.slotsOf(list)
	out := make([]dataset.Timing, len(slots))
	for k, slot := range slots {
		m, _ := x.marks.at(slot)
		out[k] = dataset.Timing{Timestamp: x.time(slot), Delay: columnValue(&x.delays, slot), Silent: m&isSilent != 0}
	}
	if x.branches != nil {
		for s := range x.branches.started(int(list[0])) {
			out[s.turn].Branches = append(out[s.turn].Branches, s.Branch)
		}
	}
	return out
}

// time returns when a turn is sent, in ms; nil = no time.
func (x *indexed) time(slot int) *float64 {
	at := columnValue(&x.times, slot)
	if at != nil {
		*at -= x.shift
	}
	return at
}

// ID returns the session id of conversation i.
func (x *indexed) ID(i int) string {
	x.mu.RLock()
	i = dataset.Position(i, x.drawn())
	row, own, id := int(x.rowsOf(i)[0]), x.own > 0, x.givenID(i)
	x.mu.RUnlock()
	if own {
		if e := x.row(row); e.ID != "" {
			id = e.ID
		}
	}
	return x.part(i, id)
}

// part returns the id of conversation i. It appends a number to id if the conversation is part of a session.
func (x *indexed) part(i int, id string) string {
	if m := x.members; m != nil && m.parts != nil {
		return id + "#" + strconv.Itoa(int(m.parts[i]))
	}
	return id
}

// givenID returns the id of conversation i if its rows have none. The caller holds mu.
func (x *indexed) givenID(i int) string {
	if m := x.members; m != nil {
		switch {
		case m.ids != nil:
			return strconv.FormatInt(m.ids[i], 10)
		case m.bare != nil:
			i = int(m.bare[i])
		}
	}
	return dataset.SessionID(x.Root, i)
}

// Conversation returns conversation i.
func (x *indexed) Conversation(i int) *conversation.Conversation {
	c, list := x.draft(i)
	for k := range list {
		if p := &list[k].prompt; p.InputLength > 0 { // such rows have one turn each
			c.Turns[k].Parts = conversation.Texts("text", x.prompt(list[k].row, p))
		}
	}
	if x.users >= 0 {
		x.mu.RLock()
		i = dataset.Position(i, x.drawn())
		x.mu.RUnlock()
		c.UserContext = x.made.texts.Text(x.users + i)
	}
	return c
}

// prompt generates the prompt of a row.
func (x *indexed) prompt(row int, p *trace.Record) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	in := -1
	if n, ok := x.prompts.at(row); ok {
		in = int(n)
	}
	return x.made.text(promptSource{sequence: in, ids: p.HashIDs, length: p.InputLength})
}

// Draft returns conversation i without generated texts.
func (x *indexed) Draft(i int) (c *conversation.Conversation, whole bool) {
	c, list := x.draft(i)
	whole = x.users < 0
	for k := range list {
		whole = whole && list[k].prompt.InputLength == 0
	}
	return c, whole
}

// numbered is a row with its number.
type numbered struct {
	entry
	row int
}

// draft reads the rows of conversation i and joins them.
func (x *indexed) draft(i int) (*conversation.Conversation, []numbered) {
	x.mu.RLock()
	i = dataset.Position(i, x.drawn())
	list := x.rowsOf(i)
	slots := x.slotsOf(list)
	x.mu.RUnlock()
	parts := make([]numbered, len(list))
	for k, row := range list {
		parts[k] = numbered{x.row(int(row)), int(row)}
	}
	x.leaveRoom(&parts[0].prompt, parts[0].block)
	c := parts[0].Conversation
	for k := range parts[1:] {
		c.Turns = append(c.Turns, parts[k+1].Turns...)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if c.ID == "" {
		c.ID = x.givenID(i)
	}
	c.ID = x.part(i, c.ID)
	if x.format.join != nil {
		x.format.join(&x.Options, &c)
	}
	if c.Mode == "" {
		c.Mode = x.info.Mode
	}
	enclose(&c, x.system)
	for k, slot := range slots {
		x.complete(&c.Turns[k], slot)
	}
	if x.branches != nil {
		for s := range x.branches.started(int(list[0])) {
			c.Turns[s.turn].Branches = append(c.Turns[s.turn].Branches, s.Branch)
		}
	}
	return &c, parts
}

// complete sets the fields of a turn that its row does not give.
func (x *indexed) complete(t *conversation.Turn, slot int) {
	if x.shift != 0 || x.rescaled != nil || x.retimed {
		t.Timestamp = x.time(slot)
	}
	if x.retimed {
		t.Delay = columnValue(&x.delays, slot)
	}
	if t.Model == "" {
		model, _ := x.models.at(slot)
		t.Model = x.Assignment.Models[model]
	}
	if t.MaxTokens != nil || t.RawPayload != nil {
		return
	}
	switch osl := x.Assignment.OSL; {
	case osl == nil || osl.Mean < 1:
	case osl.Fixed():
		n := osl.Mean
		t.MaxTokens = &n
	default:
		if n, _ := x.lengths.at(slot); n > 0 {
			length := int(n)
			t.MaxTokens = &length
		}
	}
}

// surround generates the shared system message and requests the user contexts.
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
		for i := 0; l.Context.User > 0 && i < x.conversations(); i++ {
			if n := texts.Add(l.Context.User, synth.NoPrefix); i == 0 {
				x.users = n
			}
		}
	}
	if x.system == "" {
		return nil
	}
	if body := x.body(); body >= 0 {
		return bodyTakesNoSystem(x.row(body).Turns[0].Origin, l.Spell)
	}
	return nil
}

// body returns a row with an unchanged request body at the start of a conversation, -1 = none so far.
func (x *indexed) body() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range x.conversations() {
		row := int(x.rowsOf(i)[0])
		if m, _ := x.marks.at(x.firstSlot(row)); m&isBody != 0 {
			return row
		}
	}
	return -1
}
