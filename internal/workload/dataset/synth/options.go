package synth

import (
	"errors"
	"fmt"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/media"
)

// Options describe generated conversations. Lengths are in tokens.
type Options struct {
	Spell  setting.Spell `json:"-"` // names settings in errors
	Root   *rng.Root
	Corpus *Corpus // source of the prompts; nil = Random
	Random *Random // random token ids; nil with a nil Corpus = no text
	// Special is the number of special tokens that this tokenizer adds to a text. The mean input length is lowered by it.
	Special int
	// Template lowers input lengths by the tokens that a chat template adds; zero = no template.
	Template TemplateCost
	// FirstTurnCost is the number of tokens that are inserted when a first turn is sent: before its first text, or after its last one (CostLast). That
	// text is generated shorter by this number.
	FirstTurnCost int
	CostLast      bool

	Entries    int                   // number of conversations, ≥ 1
	Turns      dataset.Distribution  // turns per conversation; a zero mean = one turn
	Delay      *dataset.Distribution // ms before every turn but the first; nil = none
	DelayRatio float64               // multiplies delays
	ISL        dataset.Distribution  // tokens per text; a mean of 0 = no text
	Batch      int                   // texts per turn; 0 = no text
	Pairs      []Pair                // replaces ISL and OSL unless empty
	Window     *Window               // also replaces ISL and OSL; nil = no window
	Context    Context
	Assignment dataset.Assignment
	Rankings   *Rankings    // requests with a query and passages instead of a prompt; nil = prompts
	Media      *media.Maker // images, audio and video of a turn; nil = none
}

// Context is text around the turns. A length of 0 = none.
type Context struct {
	PrefixLength, PrefixPool int    // one prompt of a pool before every text of a first turn
	SharedSystem             int    // one system message, shared by all conversations
	User                     int    // a separate user message before each conversation
	System                   string // system message given by the user
}

// Random selects prompts of random token ids.
type Random struct {
	Tokenizer  Tokenizer
	Vocabulary Vocabulary
}

// Rankings describes generated ranking requests: one query and several passages.
type Rankings struct {
	Passages      dataset.Distribution // number of passages per request
	PassageTokens dataset.Distribution
	QueryTokens   dataset.Distribution
}

// TemplateCost is the number of tokens that a chat template adds to the messages.
type TemplateCost struct {
	Request int // once per request
	Message int // per message
}

func (o Options) check() error {
	as := o.Spell.As
	switch {
	case o.Entries < 1:
		return fmt.Errorf("%s %d: must be at least 1", as("datasets.main.entries"), o.Entries)
	case o.Turns.Mean < 0:
		return fmt.Errorf("%s %d: must be at least 1", as("datasets.main.turns.mean"), o.Turns.Mean)
	case o.Rankings == nil && !o.hasText() && o.Media.Count() == 0:
		return dataset.Empty("nothing to send: all generated data are switched off. Set %s (now %d) and %s (now %d) above 0, or add images (%s), audio (%s) or video (%s)",
			as("datasets.main.prompts.isl.mean"), o.ISL.Mean, as("datasets.main.prompts.batch_size"), o.Batch,
			as("datasets.main.images.width.mean"), as("datasets.main.audio.length.mean"), as("datasets.main.video.width"))
	case o.Context.System != "" && o.Context.SharedSystem > 0:
		return errors.New(o.Spell.Text("{datasets.main.system_prompt} and {datasets.main.prefix_prompts.shared_system_length} cannot be used together"))
	case o.hasPool() && (o.Context.SharedSystem > 0 || o.Context.User > 0):
		return errors.New(o.Spell.Text("{datasets.main.prefix_prompts.length} cannot be used together with {datasets.main.prefix_prompts.shared_system_length} or {datasets.main.prefix_prompts.user_context_length}"))
	}
	if len(o.Pairs) > 0 {
		if err := CheckPairs(o.Pairs); err != nil {
			return fmt.Errorf("%s: %w", as("datasets.main.prompts.sequence_distribution"), err)
		}
	}
	if w := o.Window; w != nil && w.Input[0] < 1 && !o.hasPool() {
		return fmt.Errorf("%s: the shortest input would have %d tokens; raise %s (the tokenizer adds %d special tokens), or add a prefix", as("datasets.main.prompts.random_range_ratio"),
			w.Input[0], as("datasets.main.prompts.isl.mean"), o.Special)
	}
	if r := o.Random; r != nil && (len(r.Vocabulary.Allowed) == 0 || len(r.Vocabulary.All) == 0) {
		return fmt.Errorf("%s: the vocabulary of the tokenizer has no tokens", as("datasets.main.prompts.corpus"))
	}
	return nil
}

// hasSource reports whether there is a source of text.
func (o Options) hasSource() bool { return o.Corpus != nil || o.Random != nil }

func (o Options) hasText() bool {
	return o.hasSource() && o.Batch > 0 && (o.ISL.Mean > 0 || len(o.Pairs) > 0 || o.Window != nil)
}

// hasPool reports whether prefixes are used. Queries and passages take none.
func (o Options) hasPool() bool {
	return o.Rankings == nil && o.Context.PrefixLength > 0 && o.Context.PrefixPool > 0
}
