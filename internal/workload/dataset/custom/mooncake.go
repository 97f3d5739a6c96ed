package custom

import (
	"fmt"
	"sync"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
)

// MooncakeBlock is the number of tokens per hash id in a mooncake file.
const MooncakeBlock = 512

// readMooncake reads recorded traffic in the mooncake format.
func readMooncake(l *loader, path string) error {
	var records []trace.Record
	known, read := l.traceRows()
	err := l.rows(path, known, func(r *rows.Row) {
		rec := read(r)
		if l.Limits.Take(&rec, &l.set.info) {
			records = append(records, rec)
		}
	})
	if err != nil || l.faults.Count() > 0 {
		return err
	}
	if l.PayloadRows {
		trace.DelaysBefore(records)
	}
	return l.replay(records, MooncakeBlock)
}

// traceRows returns the keys of a row (nil = any) and the function that parses it.
func (l *loader) traceRows() (known []string, read func(*rows.Row) trace.Record) {
	if l.PayloadRows {
		return nil, func(r *rows.Row) trace.Record { return trace.Payload(r, payloadISL) }
	}
	return trace.MooncakeKeys, trace.Mooncake
}

// payloadISL is the default prompt length of GenAI-Perf for rows without one, in tokens.
const payloadISL = 550

// Traffic is recorded traffic as found in a file.
type Traffic struct {
	Records  []trace.Record // in the order of the file
	Sessions []trace.Session
	Block    int // tokens per hash id
}

// ReadTraffic reads a file of recorded traffic without generating prompts. The info counts what the limits excluded.
func ReadTraffic(path string, o Options) (*Traffic, dataset.Info, error) {
	var t Traffic
	name := o.Type
	if name == "" {
		name = trace.MooncakeType
	}
	format, ok := Find(name)
	if !ok || !format.Trace || format.Unscaled {
		return nil, dataset.Info{}, fmt.Errorf("type %q is not a format of recorded traffic; allowed are mooncake_trace, bailian_trace, burst_gpt_trace", name)
	}
	l := &loader{Options: o, set: &Dataset{root: o.Root}, media: newLibrary(), traffic: &t}
	l.set.info = dataset.Info{Type: format.Name, Trace: true, Mode: format.mode}
	err := format.read(l, path)
	if err == nil {
		err = l.faults.Err()
	}
	if err == nil && len(t.Records) == 0 {
		err = l.nothingLeft(path)
	}
	return &t, l.set.info, err
}

var mooncakeLayout = layout{supply: openLines, keys: trace.MooncakeKeys, entry: mooncakeEntry, join: joinPayloads}

// mooncakeEntry reads one mooncake row as a conversation.
func mooncakeEntry(l *loader, r *rows.Row) entry {
	if l.PayloadRows {
		return l.recordEntry(trace.Payload(r, payloadISL), MooncakeBlock)
	}
	return l.recordEntry(trace.Mooncake(r), MooncakeBlock)
}

// recordEntry returns a record of traffic as a conversation.
func (l *loader) recordEntry(rec trace.Record, block int) entry {
	e := entry{prompt: rec, block: block, skipped: !l.Limits.Take(&rec, &l.set.info)}
	if l.BlockSize > 0 {
		e.block = l.BlockSize
	}
	if e.skipped {
		e.Turns = []conversation.Turn{l.recorded(&rec)}
		return e
	}
	one := []trace.Record{rec}
	if !l.rescales() { // otherwise both are checked after rescaling
		trace.CheckBlocks(&rec, e.block, l.blockSetting(), &l.faults)
		l.Limits.Cap(one, &l.set.info)
	}
	e.Conversation = conversation.Conversation{ID: rec.Session, Turns: []conversation.Turn{l.recorded(&one[0])}}
	e.Mode = (trace.Session{Records: one}).Mode()
	l.Limits.CheckWindow(&rec, &l.faults)
	return e
}

// rescales reports whether recorded traffic is rescaled.
func (o *Options) rescales() bool { return o.Synthesis != nil && o.Synthesis.Changes() }

// joinPayloads moves the delays of payload rows to the next turns, because such a delay is a wait after its row.
func joinPayloads(o *Options, c *conversation.Conversation) {
	if !o.PayloadRows {
		return
	}
	var after *float64
	for k := range c.Turns {
		c.Turns[k].Delay, after = after, c.Turns[k].Delay
	}
}

// replay builds conversations from recorded traffic.
func (l *loader) replay(records []trace.Record, block int) error {
	if l.BlockSize > 0 {
		block = l.BlockSize
	}
	sessions := trace.Group(records, l.newID)
	if l.traffic != nil {
		*l.traffic = Traffic{Records: records, Sessions: sessions, Block: block}
		return nil
	}
	if l.Synthesis != nil {
		if err := l.Synthesis.Apply(sessions, block, l.Root); err != nil {
			return err
		}
	}
	made := &replayPrompts{turns: make([][]promptSource, len(sessions))}
	for i := range sessions {
		s := &sessions[i]
		s.Check(&l.faults)
		l.Limits.Cap(s.Records, &l.set.info)
		c := conversation.Conversation{ID: s.ID, Turns: make([]conversation.Turn, len(s.Records)), Mode: l.set.info.Mode}
		if mode := s.Mode(); mode != "" {
			c.Mode = mode
		}
		for k := range s.Records {
			rec := &s.Records[k]
			trace.CheckBlocks(rec, block, l.blockSetting(), &l.faults)
			l.Limits.CheckWindow(rec, &l.faults)
			c.Turns[k] = l.recorded(rec)
		}
		l.set.conversations = append(l.set.conversations, c)
	}
	if l.faults.Count() > 0 {
		return nil
	}
	for i := range sessions {
		l.leaveRoom(&sessions[i].Records[0], block)
	}
	return l.planPrompts(sessions, made, block)
}

// leaveRoom shortens a prompt by the tokens that are inserted when it is sent.
func (o *Options) leaveRoom(rec *trace.Record, block int) {
	if o.Marker == nil || rec.InputLength == 0 {
		return
	}
	_, cost := o.Marker()
	rec.InputLength = max(1, rec.InputLength-cost)
	rec.HashIDs = rec.HashIDs[:min(len(rec.HashIDs), (rec.InputLength+block-1)/block)]
}

// blockSetting returns the name of the block size setting, for messages.
func (l *loader) blockSetting() string { return l.Spell.As("datasets.main.prompts.block_size") }

// recorded returns the turn of a record, without a prompt that has to be generated.
func (l *loader) recorded(rec *trace.Record) conversation.Turn {
	t := conversation.Turn{
		Timestamp:   rec.Timestamp,
		Delay:       delay(rec.Delay, l.DelayRatio, l.DelayCap),
		MaxTokens:   rec.OutputLength,
		RawMessages: rec.Messages,
		RawTools:    rec.Tools,
		RawPayload:  rec.Payload,
		Origin:      rec.Where,
	}
	if rec.Payload == nil {
		t.ExtraBody = rec.Extra
	}
	if rec.Text != nil {
		t.Parts = conversation.Texts("text", *rec.Text)
	}
	return t
}

// promptSource describes how a prompt is generated: from the sequence, or from blocks of hash ids followed by a rest from the sequence.
type promptSource struct {
	sequence int // index in the sequence; -1 = none
	ids      []int64
	length   int
}

// replayPrompts generates the prompts of recorded traffic.
type replayPrompts struct {
	turns  [][]promptSource // per conversation; nil = nothing to generate
	corpus *synth.Corpus
	texts  *synth.Sequence
	blocks func() *synth.Blocks

	mu      sync.Mutex
	claimed int // number of conversations whose ids were claimed
}

// planPrompts requests the prompts in the order of the conversations.
func (l *loader) planPrompts(sessions []trace.Session, r *replayPrompts, block int) error {
	for i, s := range sessions {
		for k := range s.Records {
			rec := &s.Records[k]
			if rec.InputLength == 0 {
				continue
			}
			if r.turns[i] == nil {
				if err := l.openBlocks(r, block); err != nil {
					return err
				}
				r.turns[i] = make([]promptSource, len(s.Records))
			}
			r.turns[i][k] = r.turn(rec, block)
		}
	}
	if r.corpus != nil {
		l.set.prompts = r.texts
		l.set.fill = r.fill
	}
	return nil
}

func (r *replayPrompts) turn(rec *trace.Record, block int) promptSource {
	m := promptSource{sequence: -1, ids: rec.HashIDs, length: rec.InputLength}
	switch rest := rec.InputLength - len(rec.HashIDs)*block; {
	case len(rec.HashIDs) == 0:
		m.sequence = r.texts.Add(rec.InputLength, synth.NoPrefix)
	case rest > 0:
		m.sequence = r.texts.AddUnchecked(rest)
	}
	return m
}

// openBlocks opens the corpus when the first prompt is needed, and only once.
func (l *loader) openBlocks(r *replayPrompts, block int) error {
	if r.corpus != nil {
		return nil
	}
	sequence, err := l.sequence()
	if err != nil {
		return err
	}
	r.texts, r.corpus = sequence, sequence.Corpus()
	var separator *int32
	if l.Separator != nil {
		separator = l.Separator()
	}
	r.blocks = sync.OnceValue(func() *synth.Blocks {
		namespace := l.namespace
		switch {
		case l.Records != nil:
			namespace = inlineNamespace
		case namespace == "" && l.hash != nil: // a table has no ids; a file was read to its end by now
			namespace = namespaceOf(l.hash)
		}
		return synth.NewBlocks(r.corpus, l.Root, namespace, block, separator)
	})
	return nil
}

// fill generates the prompts of conversation i.
func (r *replayPrompts) fill(i int, c *conversation.Conversation) {
	r.claimUpTo(i)
	for k, m := range r.turns[i] {
		if m.length > 0 {
			c.Turns[k].Parts = conversation.Texts("text", r.text(m))
		}
	}
}

// claimUpTo claims the ids of all conversations up to i, in order. Each call continues where the last one stopped.
func (r *replayPrompts) claimUpTo(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; r.claimed <= i; r.claimed++ {
		for _, m := range r.turns[r.claimed] {
			if m.ids != nil {
				r.blocks().Claim(m.ids)
			}
		}
	}
}

// text generates one prompt.
func (r *replayPrompts) text(m promptSource) string {
	if m.ids == nil {
		return r.texts.Text(m.sequence)
	}
	tokens := r.blocks().Append(make([]int32, 0, m.length), m.ids, m.length)
	if m.sequence >= 0 {
		tokens = r.texts.Tokens(tokens, m.sequence)
	}
	return r.corpus.Text(tokens)
}
