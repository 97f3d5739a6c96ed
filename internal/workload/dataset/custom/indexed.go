package custom

import (
	"sync"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
)

// entry is the content of one row: a conversation or a part of one.
type entry struct {
	conversation.Conversation // its ID comes from the row; "" = none
	// prompt describes the prompt to generate for its only turn; an InputLength of 0 = the prompt is literal.
	prompt trace.Record
	// block is the number of tokens per hash id, in formats with hash ids.
	block   int
	size    int  // length of the row in bytes
	skipped bool // skipped: outside the window, or too long
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

	mu       sync.RWMutex // guards the fields below while rows are added
	progress *sync.Cond   // signals new rows or the end; uses the read lock of mu
	info     dataset.Info

	index        rowstore.Index
	prompts      rowstore.Column[int32] // by row: index in the sequence; -1 = none; shorter = no further row has one
	promptTokens rowstore.Column[int32] // by row: prompt tokens; below 0 = they follow blocks; used until all rows are read

	branches       *startGraph // conversations that others start; nil = none
	rescaled       *rescaling  // nil = rows are sent as recorded
	dependentTimes bool        // times and delays of rows depend on other rows

	replayed replayPrompts
	system   string
	users    int // index of the first user context in the sequence; -1 = none
	withID   int // number of conversations with an id

	demand        *sync.Cond // the reading goroutine waits here; uses the write lock of mu
	requestedRows int        // number of rows requested
	onDemand      bool       // rows are read on demand
	allRequested  bool       // all rows are requested
	ended         bool       // no more rows will come
	latestTime    float64    // ms; time of the last row
	fault         error      // reason of the end
}

var _ interface {
	dataset.Dataset
	dataset.OpenEnded
} = (*indexed)(nil)

// startedConversation is a conversation that a turn of a row starts.
type startedConversation struct {
	turn int
	conversation.Branch
}

// row reads a row again.
func (x *indexed) row(row int) entry {
	x.mu.RLock()
	at, info := x.index.Run(row), x.info
	x.mu.RUnlock()
	l := reread(x.Options, info, x.media)
	e, err := x.from.reread(l, at, row-int(at.Row))
	if err != nil {
		panic(changed(x.path, err))
	}
	if x.rescaled != nil {
		x.rescaledEntry(l, row, &e)
	}
	return e
}

// reread returns a loader that reads a row again. Its records are dropped, because the first reading has recorded them.
func reread(o Options, info dataset.Info, media *library) *loader {
	return &loader{Options: o, set: &Dataset{info: info}, media: &library{store: media.store, fetched: media.fetched, known: map[mediaKey]*conversation.Blob{}}}
}

// Len returns the number of conversations that can be drawn. It reads the file to its end.
func (x *indexed) Len() int {
	_ = x.end() // an error is reported to whoever uses the rows
	return x.Known()
}

// drawn returns the number of conversations so far that can be drawn. The caller holds mu.
func (x *indexed) drawn() int { return x.index.Conversations() - x.info.Started }

// Info describes the dataset, as far as it was read.
func (x *indexed) Info() dataset.Info {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.info
}

// Inexact returns the number of prompts so far whose length differs from the requested one.
func (x *indexed) Inexact() int {
	if x.replayed.texts == nil {
		return 0
	}
	return x.replayed.texts.Inexact()
}

// Timings returns the send times of conversation i.
func (x *indexed) Timings(i int) []dataset.Timing {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := x.index.RowsOf(dataset.Position(i, x.drawn()))
	slots := x.index.Slots(list)
	out := make([]dataset.Timing, len(slots))
	for k, slot := range slots {
		m := x.index.Mark(slot)
		out[k] = dataset.Timing{Timestamp: x.index.Time(slot), Delay: x.index.Delay(slot), Silent: m&rowstore.IsSilent != 0}
	}
	if x.branches != nil {
		for s := range x.branches.started(int(list[0])) {
			out[s.turn].Branches = append(out[s.turn].Branches, s.Branch)
		}
	}
	return out
}

// ID returns the session id of conversation i.
func (x *indexed) ID(i int) string {
	x.mu.RLock()
	i = dataset.Position(i, x.drawn())
	row, own, id := int(x.index.RowsOf(i)[0]), x.withID > 0, x.index.DefaultID(x.Root, i)
	x.mu.RUnlock()
	if own {
		if e := x.row(row); e.ID != "" {
			id = e.ID
		}
	}
	return x.index.PartID(i, id)
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
		c.UserContext = x.replayed.texts.Text(x.users + i)
	}
	return c
}

// prompt generates the prompt of a row.
func (x *indexed) prompt(row int, p *trace.Record) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	in := -1
	if n, ok := x.prompts.At(row); ok {
		in = int(n)
	}
	return x.replayed.text(promptSource{sequence: in, ids: p.HashIDs, length: p.InputLength})
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
	list := x.index.RowsOf(i)
	slots := x.index.Slots(list)
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
		c.ID = x.index.DefaultID(x.Root, i)
	}
	c.ID = x.index.PartID(i, c.ID)
	if x.format.join != nil {
		x.format.join(&x.Options, &c)
	}
	if c.Mode == "" {
		c.Mode = x.info.Mode
	}
	addSystem(&c, x.system)
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
	if x.index.Shift != 0 || x.rescaled != nil || x.dependentTimes {
		t.Timestamp = x.index.Time(slot)
	}
	if x.dependentTimes {
		t.Delay = x.index.Delay(slot)
	}
	if t.Model == "" {
		model, _ := x.index.Models.At(slot)
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
		if n, _ := x.index.Lengths.At(slot); n > 0 {
			length := int(n)
			t.MaxTokens = &length
		}
	}
}

// sequence returns the sequence of prompts. The reading goroutine may be the first one to need it.
func (x *indexed) sequence(l *loader) (texts *synth.Sequence, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if texts, err = l.sequence(); err == nil {
		x.replayed.texts = texts
	}
	return texts, err
}

// addContexts generates the shared system message and requests the user contexts.
func (x *indexed) addContexts(l *loader) error {
	x.system = l.Context.System
	if l.Context.SharedSystem > 0 || l.Context.User > 0 {
		texts, err := x.sequence(l)
		if err != nil {
			return err
		}
		if l.Context.SharedSystem > 0 {
			x.system = texts.Text(0)
		}
		for i := 0; l.Context.User > 0 && i < x.index.Conversations(); i++ {
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
	for i := range x.index.Conversations() {
		row := int(x.index.RowsOf(i)[0])
		if m := x.index.Mark(x.index.FirstSlot(row)); m&rowstore.IsBody != 0 {
			return row
		}
	}
	return -1
}
