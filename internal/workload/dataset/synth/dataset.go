package synth

import (
	"math"
	"sync"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/media"
	"aiperf/internal/workload/dataset/rowstore"
)

// lookahead is the number of conversations that are drawn beyond the requested one, so that their prompts can be generated together.
const lookahead = blockPrompts

// Dataset is a dataset of generated conversations. It draws them in order, a little ahead of their use.
type Dataset struct {
	opts     Options
	texts    *Sequence
	assign   *dataset.Assigner
	counts   *rng.Stream // number of turns per conversation
	delays   *rng.Stream
	lengths  *rng.Stream
	prefix   *rng.Stream
	pairs    lengthSource // nil = every text draws its own length
	rankings *rankingLengths
	system   string
	ahead    *media.ContentCache // nil = no media

	mu       sync.Mutex
	drawn    int                      // number of conversations that were drawn
	each     int                      // number of turns of every conversation; 0 = it differs
	starts   rowstore.Column[int32]   // if it differs: index of the first turn of every drawn conversation, then the number of turns
	turns    rowstore.Column[turn]    // of all drawn conversations
	waits    rowstore.Column[float64] // by turn: its delay, ms; NaN = none. It ends with the last turn that has one.
	items    []media.Item             // media of all drawn turns, the same number per turn
	contexts *Sequence                // sequence of the user contexts; nil = none
	users    int                      // index of the first conversation's context in contexts
	total    int                      // turns of the whole dataset
}

var (
	_ dataset.Dataset  = (*Dataset)(nil)
	_ dataset.Releaser = (*Dataset)(nil)
)

// lengthSource draws the input and output length of a turn together.
type lengthSource interface {
	draw() (isl, osl int)
}

// turn holds the draws for one turn, apart from its delay. A run of ten million requests has as many.
type turn struct {
	first, texts     int32 // index of the turn's first prompt, and their number
	model, maxTokens int32
}

// turns are the drawn turns of a conversation.
type turns struct {
	first int // number of turns of earlier conversations
	list  []turn
	waits []float64 // ms; NaN = no delay; nil = no turn has one
}

// wait returns the delay of turn k, ms; nil = none.
func (t *turns) wait(k int) *float64 {
	if t.waits == nil || math.IsNaN(t.waits[k]) {
		return nil
	}
	return &t.waits[k]
}

// New returns a dataset for the options.
func New(o Options) (*Dataset, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	assign, err := dataset.NewAssigner(o.Assignment, o.Root)
	if err != nil {
		return nil, err
	}
	names := o.Corpus.streams()
	s := &Dataset{
		opts:    o,
		assign:  assign,
		counts:  o.Root.Stream("composer.conversation.turn_count"),
		delays:  o.Root.Stream("composer.conversation.turn_delay"),
		lengths: o.Root.Stream(names.length),
		prefix:  o.Root.Stream(names.prefix),
		system:  o.Context.System,
		each:    o.fixedTurns(),
	}
	s.starts.Add(0)
	if o.Rankings != nil {
		s.rankings = newRankingLengths(*o.Rankings, o.Root)
	}
	s.total = countTurns(o)
	if o.Media.Count() > 0 {
		s.ahead = media.NewContentCache(func(i int) conversation.Part { return o.Media.Part(s.item(i)) })
	}
	if !o.hasSource() {
		return s, nil
	}
	s.begin()
	if o.Context.User > 0 {
		s.addContexts()
	}
	return s, nil
}

// Release implements dataset.Releaser. With media it does nothing, because they may still be being made.
func (s *Dataset) Release() {
	if s.ahead != nil {
		return
	}
	s.mu.Lock()
	s.starts, s.turns, s.waits = rowstore.Column[int32]{}, rowstore.Column[turn]{}, rowstore.Column[float64]{}
	s.mu.Unlock()
	s.texts.release()
	s.contexts.release()
}

// begin opens the prompt sequence and generates the prompts before all others: the shared system message, then the pool of prefixes. Lengths and
// positions that an imitated benchmark draws ahead are drawn between the two, like in the Python tool.
func (s *Dataset) begin() {
	o := s.opts
	var random *randomSource
	if o.Random != nil {
		random = newRandomSource(o.Random.Vocabulary, o.Root)
		s.texts = newRandom(o.Random.Tokenizer, random)
	} else {
		s.texts = NewSequence(o.Corpus, o.Root)
	}
	if o.Context.SharedSystem > 0 {
		s.system = s.texts.Text(s.texts.Add(o.Context.SharedSystem, NoPrefix))
	}
	switch {
	case len(o.Pairs) > 0:
		s.pairs = newPairLengths(o.Pairs, o.Root)
	case o.Window != nil:
		lengths := newWindowLengths(*o.Window, o.Root)
		if random != nil {
			random.ahead(o.Entries, lengths.ahead(o.Entries, o.Root))
		}
		s.pairs = lengths
	}
	if o.hasPool() {
		s.texts.AddPool(o.Context.PrefixPool, o.Context.PrefixLength)
	}
}

// Close ends the generation of media in the background.
func (s *Dataset) Close() error {
	s.opts.Media.Close()
	if s.ahead != nil {
		s.ahead.Close()
	}
	return nil
}

// addContexts requests a context for every conversation. The Python tool draws the contexts after all turns, so with a user's seed all turns are drawn
// first. Without a seed there is nothing to reproduce: the contexts use a separate stream and need not wait for the turns.
func (s *Dataset) addContexts() {
	s.contexts = s.texts
	if s.opts.Root.Seeded() {
		s.draw(s.opts.Entries)
	} else if own := s.opts.Root.Variation("user contexts"); s.opts.Random != nil {
		s.contexts = newRandom(s.opts.Random.Tokenizer, newRandomSource(s.opts.Random.Vocabulary, own))
	} else {
		s.contexts = NewSequence(s.opts.Corpus, own)
	}
	for i := range s.opts.Entries {
		if n := s.contexts.Add(s.opts.Context.User, NoPrefix); i == 0 {
			s.users = n
		}
	}
}

// countTurns draws the turn counts from a second stream with the same start as the dataset's stream.
func countTurns(o Options) int {
	if n := o.fixedTurns(); n > 0 {
		return o.Entries * n
	}
	stream := o.Root.Stream("composer.conversation.turn_count")
	total := 0
	for range o.Entries {
		total += drawTurns(o, stream)
	}
	return total
}

// fixedTurns returns the number of turns of every conversation; 0 = it differs.
func (o *Options) fixedTurns() int {
	switch {
	case o.Rankings != nil:
		return 1
	case o.Turns.Fixed():
		return max(1, o.Turns.Mean)
	}
	return 0
}

func drawTurns(o Options, stream *rng.Stream) int {
	o.Turns.Mean = max(1, o.Turns.Mean)
	return o.Turns.Draw(stream)
}

// Len returns the number of conversations.
func (s *Dataset) Len() int { return s.opts.Entries }

// Inexact returns the number of prompts so far whose length differs from the requested one.
func (s *Dataset) Inexact() int {
	if s.texts == nil {
		return 0
	}
	n := s.texts.Inexact()
	if s.contexts != nil && s.contexts != s.texts {
		n += s.contexts.Inexact()
	}
	return n
}

// Info describes the dataset.
func (s *Dataset) Info() dataset.Info {
	f := dataset.Info{Type: "synthetic", Turns: s.total, Delays: s.opts.Delay != nil && s.total > s.opts.Entries, MadeMedia: s.ahead != nil}
	if s.rankings != nil {
		f.Type = "rankings"
	}
	warn := func(when bool, text string) {
		if when {
			f.Warnings = append(f.Warnings, s.opts.Spell.Text(text))
		}
	}
	around := s.opts.Context
	warn(around.PrefixLength > 0 && around.PrefixPool < 1,
		"{datasets.main.prefix_prompts.length} without {datasets.main.prefix_prompts.pool_size}: the pool is empty, so no prefix is sent")
	warn(around.PrefixPool > 0 && around.PrefixLength < 1,
		"{datasets.main.prefix_prompts.pool_size} without {datasets.main.prefix_prompts.length}: the prefixes have length 0, so none is sent")
	warn(s.opts.Window != nil && s.opts.Random != nil && s.total*s.opts.Batch > s.opts.Entries,
		"{datasets.main.prompts.random_range_ratio}: the run needs more prompts than were generated for its conversations. The additional prompts differ from those of the imitated benchmark (vLLM or SGLang)")
	f.Warnings = append(f.Warnings, s.opts.Media.Warnings()...)
	return f
}

// item returns the draw of one media item.
func (s *Dataset) item(i int) media.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[i]
}

// Ahead starts to generate the media of conversation i, which is needed soon.
func (s *Dataset) Ahead(i int) {
	if s.ahead == nil {
		return
	}
	drawn := s.turnsOf(i)
	n := s.opts.Media.Count()
	for k := n * drawn.first; k < n*(drawn.first+len(drawn.list)); k++ {
		s.ahead.Want(k)
	}
}

// Timings returns the delays of conversation i.
func (s *Dataset) Timings(i int) []dataset.Timing {
	drawn := s.turnsOf(i)
	out := make([]dataset.Timing, len(drawn.list))
	for k := range out {
		out[k].Delay = drawn.wait(k)
	}
	return out
}

// turnsOf returns the turns of conversation i. It draws conversations up to i and a little further.
func (s *Dataset) turnsOf(i int) turns {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i+lookahead >= s.drawn+1 {
		s.draw(min(s.opts.Entries, i+2*lookahead))
	}
	first, end := s.start(i), s.start(i+1)
	t := turns{first: first, list: make([]turn, end-first)}
	for k := range t.list {
		t.list[k], _ = s.turns.At(first + k)
	}
	if s.waits.Len() > first {
		t.waits = make([]float64, len(t.list))
		for k := range t.waits {
			t.waits[k] = math.NaN()
			if ms, ok := s.waits.At(first + k); ok {
				t.waits[k] = ms
			}
		}
	}
	return t
}

// start returns the index of the first turn of conversation i, or the number of turns if i is the next conversation.
func (s *Dataset) start(i int) int {
	if s.each > 0 {
		return i * s.each
	}
	at, _ := s.starts.At(i)
	return int(at)
}

// ID returns the session id of conversation i.
func (s *Dataset) ID(i int) string { return dataset.SessionID(s.opts.Root, i) }

// Conversation generates conversation i.
func (s *Dataset) Conversation(i int) *conversation.Conversation {
	drawn := s.turnsOf(i)
	c := &conversation.Conversation{
		ID:     s.ID(i),
		Turns:  make([]conversation.Turn, len(drawn.list)),
		System: s.system,
	}
	if s.contexts != nil {
		c.UserContext = s.contexts.Text(s.users + i)
	}
	for k, t := range drawn.list {
		c.Turns[k] = s.make(t)
		c.Turns[k].Delay = drawn.wait(k)
		for n := range s.opts.Media.Count() {
			c.Turns[k].Parts = append(c.Turns[k].Parts, s.ahead.Part((drawn.first+k)*s.opts.Media.Count()+n))
		}
	}
	return c
}

// Draft reports that the whole dataset is generated.
func (s *Dataset) Draft(int) (*conversation.Conversation, bool) { return nil, false }

// make generates one turn, without its delay.
func (s *Dataset) make(t turn) conversation.Turn {
	out := conversation.Turn{Model: s.opts.Assignment.Models[t.model]}
	if t.maxTokens > 0 {
		n := int(t.maxTokens)
		out.MaxTokens = &n
	}
	contents, tokens := make([]string, t.texts), 0
	for k := range contents {
		contents[k], tokens = s.texts.Counted(int(t.first) + k)
	}
	if len(contents) == 1 {
		out.Counted = conversation.CountedText{Text: contents[0], Tokens: tokens}
	}
	if s.rankings != nil {
		out.Parts = append(conversation.Texts("query", contents[0]), conversation.Texts("passages", contents[1:]...)...)
	} else {
		out.Parts = conversation.Texts("text", contents...)
	}
	return out
}
