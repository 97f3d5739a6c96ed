package custom

import (
	"math"
	"strconv"
	"sync"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/synth"
	"aiperf/internal/dataset/trace"
)

// entry is what one row says: a conversation, or a part of one.
type entry struct {
	conversation.Conversation // its ID is that of the row, "" = it has none
	// prompt is what the prompt of its one turn is made from; a length of 0 = it is literal.
	prompt trace.Record
	// block is the number of tokens of a hash id, where the format has such.
	block int
	size  int  // of the row, bytes
	left  bool // outside the window, or too long
	// Where the window is not known yet: too long, or with an output that was lowered to the limit.
	long, capped bool
	chat         chat // of a format whose rows name those that they continue
	links        []link
	service      float64 // ms that the answer took, where that is told
}

// indexed is a dataset whose rows stay in their file. Of each the place there is kept and what timing needs; it is read again when its conversation
// is asked for. So memory grows by about a byte a row, by 8 where rows have times, by 16 where their prompts are drawn one after the other and
// by 8 where several rows are one conversation, whatever the rows hold.
//
// Where the order of the rows is that of their use, the file is read a little ahead of it, so that the first request waits for no other row.
type indexed struct {
	Options
	format Format
	from   supply
	path   string
	media  *library

	mu   sync.RWMutex // guards what follows while rows are added
	grew *sync.Cond   // more rows, or the end; its lock is mu's for readers
	info dataset.Info

	// By row, in the order of the file. A slot is a turn of a row.
	places  places
	slots   column[uint32]  // before each row and after the last one; empty = a row is a turn
	prompts column[int32]   // in the sequence; -1 = none; shorter = no further row has one
	marks   column[mark]    // by slot
	times   column[float64] // by slot, ms, NaN = none; shorter = no further turn has one
	delays  column[float64] // likewise, scaled
	models  column[uint16]  // by slot; empty = there is one
	lengths column[uint32]  // drawn output lengths by slot; shorter = none is drawn
	wants   column[int32]   // tokens of the prompts of rows, below 0 = behind blocks; until all rows are read

	members  *membership // which rows conversations consist of; nil = each is one
	branches *web        // what conversations start; nil = nothing
	rescaled *rescaling  // nil = rows are sent as they were recorded
	shift    float64     // ms, the beginning of the trace where its times have another zero
	retimed  bool        // times and delays of rows depend on others

	made   replayed
	system string
	users  int // prompt of the first user context, -1 = none
	own    int // conversations with an id of their own

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

// mark is what is known of a turn beside its times.
type mark uint8

const (
	hasModel  mark = 1 << iota // of its own
	hasLength                  // likewise
	isBody                     // it is sent as it stands
	isSystem                   // a system turn
	mayLift                    // one that can be the conversation's system message
	isLifted                   // and is
	isSilent
)

// started is a conversation that a turn of a row starts.
type started struct {
	turn int
	conversation.Branch
}

// membership says which rows conversations consist of.
type membership struct {
	rows  []uint32 // of all conversations, one behind the other
	first []uint32 // in rows: of every conversation, and behind the last one
	ids   []int64  // of the conversations, where no row has them; nil = rows have them, or nobody
	bare  []uint32 // conversations without an id before each; nil = all are without one, or none
	parts []uint32 // numbers behind the ids, of conversations that are parts of sessions; nil = none is
}

// conversations is the number of conversations so far. The caller holds mu.
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

// firstSlot is the number of turns before a row.
func (x *indexed) firstSlot(row int) int {
	if n, ok := x.slots.at(row); ok {
		return int(n)
	}
	return row
}

// slotsOf lists the turns of rows that are sent as turns.
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

// noted is the value at a place of a column.
func noted(from *column[float64], at int) *float64 {
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

// reread is a loader that reads a row again. What it notes is noted already.
func reread(o Options, info dataset.Info, media *library) *loader {
	return &loader{Options: o, set: &Dataset{info: info}, media: &library{store: media.store, fetched: media.fetched, known: map[mediaKey]*conversation.Blob{}}}
}

// Len is the number of conversations that are drawn.
func (x *indexed) Len() int {
	_ = x.end() // whoever uses the rows is told
	return x.Known()
}

// drawn is the number of them so far. The caller holds mu.
func (x *indexed) drawn() int { return x.conversations() - x.info.Started }

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
	list := x.rowsOf(dataset.Position(i, x.drawn()))
	slots := x.slotsOf(list)
	out := make([]dataset.Timing, len(slots))
	for k, slot := range slots {
		m, _ := x.marks.at(slot)
		out[k] = dataset.Timing{Timestamp: x.time(slot), Delay: noted(&x.delays, slot), Silent: m&isSilent != 0}
	}
	if x.branches != nil {
		for s := range x.branches.started(int(list[0])) {
			out[s.turn].Branches = append(out[s.turn].Branches, s.Branch)
		}
	}
	return out
}

// time is when a turn leaves, nil = it has no time.
func (x *indexed) time(slot int) *float64 {
	at := noted(&x.times, slot)
	if at != nil {
		*at -= x.shift
	}
	return at
}

// ID is the session id of conversation i.
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

// part is the id of conversation i, of the id of its session.
func (x *indexed) part(i int, id string) string {
	if m := x.members; m != nil && m.parts != nil {
		return id + "#" + strconv.Itoa(int(m.parts[i]))
	}
	return id
}

// givenID is the id of conversation i where its rows have none. The caller holds mu.
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
		if p := &list[k].prompt; p.InputLength > 0 { // such rows are a turn each
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

// prompt makes the prompt of a row.
func (x *indexed) prompt(row int, p *trace.Record) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	in := -1
	if n, ok := x.prompts.at(row); ok {
		in = int(n)
	}
	return x.made.text(made{sequence: in, ids: p.HashIDs, length: p.InputLength})
}

// Draft returns conversation i without the texts that are made.
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

// draft reads the rows of conversation i and puts them together.
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

// complete gives a turn what its row does not say.
func (x *indexed) complete(t *conversation.Turn, slot int) {
	if x.shift != 0 || x.rescaled != nil || x.retimed {
		t.Timestamp = x.time(slot)
	}
	if x.retimed {
		t.Delay = noted(&x.delays, slot)
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

// body is a row that is sent as it stands at the beginning of a conversation, -1 = there is none so far.
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
