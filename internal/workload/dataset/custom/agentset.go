package custom

import (
	"sync"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/weka"
)

// agentSet stores the sessions of recorded agents, packed one after the other in a temporary file. The sessions of a trace are stored together, the
// session of its main agent first. Only the offsets are in memory. The main sessions are the conversations that can be drawn. One goroutine adds
// traces while others read them.
type agentSet struct {
	ratio   float64
	longest *float64 // longest delay, ms; nil = no limit

	mu             sync.RWMutex // guards the fields below, except packed and fault: only the adding goroutine uses these
	packedSessions boundedfile.SpooledBytes
	ends           rowstore.Column[int64]  // end offset of each session in kept
	roots          rowstore.Column[uint32] // main sessions of traces
	started        rowstore.Column[uint32] // sessions started by main sessions
	starts         rowstore.Column[start]  // start of each started session
	packed         []byte
	fault          error

	turns          int
	timed, delayed bool      // some turn has a timestamp; some turn after the first of its conversation has a delay
	untimed        [2]string // position of the first main session and of the first started session without a time; "" = all have one
}

// start is the turn of a main session that starts another session.
type start struct {
	turn, join uint32
	beforeTurn bool
}

// put stores the sessions of a trace.
func (a *agentSet) put(list []weka.Session) {
	a.packed = a.packed[:0]
	lengths := make([]int, len(list))
	for i := range list {
		a.packed = list[i].Pack(a.packed)
		lengths[i] = len(a.packed)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	from := a.packedSessions.Size()
	if a.fault == nil {
		_, a.fault = a.packedSessions.Write(a.packed)
	}
	for i := range list {
		s := &list[i]
		if i == 0 {
			a.roots.Add(uint32(a.ends.Len()))
		} else {
			a.started.Add(uint32(a.ends.Len()))
			a.starts.Add(start{uint32(s.Parent), uint32(s.Join), s.Before})
		}
		a.ends.Add(from + int64(lengths[i]))
		a.note(s, min(i, 1))
	}
}

// note updates the counts with one session.
func (a *agentSet) note(s *weka.Session, kind int) {
	a.turns += len(s.Turns)
	for k, t := range s.Turns {
		a.timed = a.timed || t.Timestamp != nil
		a.delayed = a.delayed || k > 0 && t.Delay != nil
	}
	if first := s.Turns[0]; first.Timestamp == nil && a.untimed[kind] == "" {
		a.untimed[kind] = first.Where
	}
}

// fillInfo copies the counts into info.
func (a *agentSet) fillInfo(info *dataset.Info) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	info.Started, info.Turns, info.Timestamps, info.Delays = a.started.Len(), a.turns, a.timed, a.delayed
	if info.UntimedOrigin = a.untimed[0]; info.UntimedOrigin == "" {
		info.UntimedOrigin = a.untimed[1]
	}
}

func (a *agentSet) drawn() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.roots.Len()
}

// find returns the session of conversation i and the trace that it belongs to. The caller holds mu.
func (a *agentSet) find(i int) (session uint32, trace int) {
	if i < dataset.FirstStarted {
		session, _ = a.roots.At(i)
		return session, i
	}
	i -= dataset.FirstStarted
	session, _ = a.started.At(i)
	return session, int(session) - i - 1 // i of the earlier sessions are started ones; the others are main sessions, one per trace
}

// bytes reads at most the first most bytes of a packed session. The caller holds mu.
func (a *agentSet) bytes(session uint32, most int64) []byte {
	from := int64(0)
	if session > 0 {
		from, _ = a.ends.At(int(session) - 1)
	}
	to, _ := a.ends.At(int(session))
	b := make([]byte, min(most, to-from))
	if _, err := a.packedSessions.ReadAt(b, from); err != nil {
		panic(changed(a.packedSessions.Name, err))
	}
	return b
}

// conversationHead returns conversation i without its messages. The caller holds mu.
func (a *agentSet) conversationHead(i int) (s weka.Session, trace int) {
	session, trace := a.find(i)
	return a.unpack(a.bytes(session, int64(weka.HeadSize(a.bytes(session, weka.HeadLength))))), trace
}

func (a *agentSet) unpack(b []byte) weka.Session {
	s, err := weka.Unpack(b)
	if err != nil {
		panic(changed(a.packedSessions.Name, err))
	}
	return s
}

func (a *agentSet) id(i int) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	s, _ := a.conversationHead(i)
	return s.ID
}

// branches calls add for every session that a turn of the main session starts. The caller holds mu.
func (a *agentSet) branches(trace int, add func(turn int, b conversation.Branch)) {
	own, _ := a.roots.At(trace)
	end, ok := a.roots.At(trace + 1)
	if !ok {
		end = uint32(a.ends.Len())
	}
	for i := int(own) - trace; i < int(end)-trace-1; i++ {
		s, _ := a.starts.At(i)
		add(int(s.turn), conversation.Branch{Conversation: dataset.FirstStarted + i, Join: int(s.join), Before: s.beforeTurn})
	}
}

// followed returns the turns that had been answered before a turn of this trace. The caller holds mu.
func (a *agentSet) followed(trace int, after []weka.Place) (list []conversation.TurnRef) {
	own, _ := a.roots.At(trace)
	for _, p := range after {
		at := trace
		if p.Session > 0 {
			at = dataset.FirstStarted + int(own) - trace + p.Session - 1
		}
		list = append(list, conversation.TurnRef{Conversation: at, Turn: p.Turn})
	}
	return list
}

func (a *agentSet) timings(i int) []dataset.Timing {
	c := a.draft(i)
	return timingsOf(c.Turns)
}

// draft returns conversation i without its messages. Every request carries its whole history itself.
func (a *agentSet) draft(i int) conversation.Conversation {
	a.mu.RLock()
	defer a.mu.RUnlock()
	s, trace := a.conversationHead(i)
	c := conversation.Conversation{ID: s.ID, Mode: conversation.MessageArrayWithResponses, Turns: make([]conversation.Turn, len(s.Turns))}
	for k, t := range s.Turns {
		c.Turns[k] = conversation.Turn{Model: t.Model, MaxTokens: &s.Turns[k].MaxTokens, Timestamp: t.Timestamp, Origin: t.Where,
			Delay: delay(t.Delay, a.ratio, a.longest), After: a.followed(trace, t.After)}
	}
	if i < dataset.FirstStarted {
		a.branches(trace, func(turn int, b conversation.Branch) { c.Turns[turn].Branches = append(c.Turns[turn].Branches, b) })
	}
	return c
}

// fill generates the messages of conversation i.
func (a *agentSet) fill(i int, c *conversation.Conversation, corpus *synth.Corpus, root *rng.Root) {
	a.mu.RLock()
	session, _ := a.find(i)
	packed := a.bytes(session, a.packedSessions.Size())
	a.mu.RUnlock()
	s := a.unpack(packed)
	texts := &traceTexts{corpus: corpus, blocks: synth.NewBlocks(corpus, root, s.Trace, s.Block, nil), block: s.Block}
	for k, messages := range s.Messages(texts) {
		c.Turns[k].RawMessages = messages
	}
}
