package synth

import (
	"sync"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/media"
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
	starts   []int32 // index of the first turn of every drawn conversation, then the number of turns
	turns    []turn
	items    []media.Item // media of all drawn turns, the same number per turn
	contexts *Sequence    // sequence of the user contexts; nil = none
	users    int          // index of the first conversation's context in contexts
	total    int          // turns of the whole dataset
}

var _ dataset.Dataset = (*Dataset)(nil)

// lengthSource draws the input and output length of a turn together.
type lengthSource interface {
	draw() (isl, osl int)
}

// turn holds the draws for one turn.
type turn struct {
	first, texts     int32 // index of the turn's first prompt, and their number
	model, maxTokens int32
	delay            float64 // ms
	delayed          bool
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
		starts:  []int32{0},
	}
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
	if o.Rankings != nil {
		return o.Entries
	}
	if o.Turns.Fixed() {
		return o.Entries * max(1, o.Turns.Mean)
	}
	stream := o.Root.Stream("composer.conversation.turn_count")
	total := 0
	for range o.Entries {
		total += drawTurns(o, stream)
	}
	return total
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
	first, drawn := s.drawn(i)
	n := s.opts.Media.Count()
	for k := n * first; k < n*(first+len(drawn)); k++ {
		s.ahead.Want(k)
	}
}

// Timings returns the delays of conversation i.
func (s *Dataset) Timings(i int) []dataset.Timing {
	_, drawn := s.drawn(i)
	out := make([]dataset.Timing, len(drawn))
	for k := range drawn {
		out[k].Delay = drawn[k].wait()
	}
	return out
}

// drawn returns the turns of conversation i and the number of earlier turns. It draws conversations up to i and a little further.
func (s *Dataset) drawn(i int) (first int, turns []turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i+lookahead >= len(s.starts) {
		s.draw(min(s.opts.Entries, i+2*lookahead))
	}
	return int(s.starts[i]), s.turns[s.starts[i]:s.starts[i+1]:s.starts[i+1]]
}

func (t turn) wait() *float64 {
	if !t.delayed {
		return nil
	}
	delay := t.delay
	return &delay
}

// ID returns the session id of conversation i.
func (s *Dataset) ID(i int) string { return dataset.SessionID(s.opts.Root, i) }

// Conversation generates conversation i.
func (s *Dataset) Conversation(i int) *conversation.Conversation {
	first, drawn := s.drawn(i)
	c := &conversation.Conversation{
		ID:     s.ID(i),
		Turns:  make([]conversation.Turn, len(drawn)),
		System: s.system,
	}
	if s.contexts != nil {
		c.UserContext = s.contexts.Text(s.users + i)
	}
	for k, t := range drawn {
		c.Turns[k] = s.make(t)
		for n := range s.opts.Media.Count() {
			c.Turns[k].Parts = append(c.Turns[k].Parts, s.ahead.Part((first+k)*s.opts.Media.Count()+n))
		}
	}
	return c
}

// Draft reports that the whole dataset is generated.
func (s *Dataset) Draft(int) (*conversation.Conversation, bool) { return nil, false }

// make generates one turn.
func (s *Dataset) make(t turn) conversation.Turn {
	out := conversation.Turn{Model: s.opts.Assignment.Models[t.model], Delay: t.wait()}
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
