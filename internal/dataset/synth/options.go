package synth

import (
	"errors"
	"fmt"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/media"
	"aiperf/internal/rng"
	"aiperf/internal/setting"
)

// Options describe generated conversations. Lengths are in tokens.
type Options struct {
	Spell  setting.Spell `json:"-"` // words the settings that errors speak of
	Root   *rng.Root
	Corpus *Corpus // what prompts are cut from; nil = Random
	Random *Random // random token ids; nil beside a nil Corpus = no text is made
	// Special is the number of special tokens that an encode of this tokenizer adds; the mean input length is lowered by it.
	Special int
	// Template lowers input lengths further by what a chat template adds; zero where none is applied.
	Template TemplateCost
	// FirstTurnCost is what is put before the first text of a first turn when it is sent, or behind the last one (CostLast), in tokens; that text is made
	// that much shorter.
	FirstTurnCost int
	CostLast      bool

	Entries    int                   // conversations, ≥ 1
	Turns      dataset.Distribution  // turns of a conversation; a zero mean is one turn
	Delay      *dataset.Distribution // ms before every turn but the first; nil = none
	DelayRatio float64               // multiplies delays
	ISL        dataset.Distribution  // tokens of one text; a mean of 0 = no text
	Batch      int                   // texts of one turn; 0 = no text
	Pairs      []Pair                // replaces ISL and OSL when not empty
	Window     *Window               // replaces ISL and OSL too; nil = it does not
	Context    Context
	Assignment dataset.Assignment
	Rankings   *Rankings    // a query and passages instead of a prompt; nil = prompts
	Media      *media.Maker // pictures, sounds and clips of a turn; nil = none
}

// Context is text around the turns. Lengths of 0 = none.
type Context struct {
	PrefixLength, PrefixPool int    // a prompt out of a pool in front of every text of a first turn
	SharedSystem             int    // one system message, the same for all conversations
	User                     int    // a user message of its own before each conversation
	System                   string // system message in the user's own words
}

// Random are prompts of random token ids.
type Random struct {
	Tokenizer  Tokenizer
	Vocabulary Vocabulary
}

// Rankings describes generated ranking requests: one query and several passages.
type Rankings struct {
	Passages      dataset.Distribution // passages of a request
	PassageTokens dataset.Distribution
	QueryTokens   dataset.Distribution
}

// TemplateCost is what a chat template adds to the messages, in tokens.
type TemplateCost struct {
	Request int // once a request
	Message int // for every message
}

func (o Options) check() error {
	as := o.Spell.As
	switch {
	case o.Entries < 1:
		return fmt.Errorf("%s %d: must be at least 1", as("datasets.main.entries"), o.Entries)
	case o.Turns.Mean < 0:
		return fmt.Errorf("%s %d: must be at least 1", as("datasets.main.turns.mean"), o.Turns.Mean)
	case o.Rankings == nil && !o.hasText() && o.Media.Count() == 0:
		return dataset.Nothing("all generated data are switched off: set %s (now %d) and %s (now %d) above 0, or ask for images (%s), audio (%s) or video (%s)",
			as("datasets.main.prompts.isl.mean"), o.ISL.Mean, as("datasets.main.prompts.batch_size"), o.Batch,
			as("datasets.main.images.width.mean"), as("datasets.main.audio.length.mean"), as("datasets.main.video.width"))
	case o.Context.System != "" && o.Context.SharedSystem > 0:
		return errors.New(o.Spell.Text("{datasets.main.system_prompt} and {datasets.main.prefix_prompts.shared_system_length} exclude each other"))
	case o.hasPool() && (o.Context.SharedSystem > 0 || o.Context.User > 0):
		return errors.New(o.Spell.Text("{datasets.main.prefix_prompts.length} excludes {datasets.main.prefix_prompts.shared_system_length} and {datasets.main.prefix_prompts.user_context_length}"))
	}
	if len(o.Pairs) > 0 {
		if err := CheckPairs(o.Pairs); err != nil {
			return fmt.Errorf("%s: %w", as("datasets.main.prompts.sequence_distribution"), err)
		}
	}
	if w := o.Window; w != nil && w.Input[0] < 1 && !o.hasPool() {
		return fmt.Errorf("%s: the shortest input has %d tokens: raise %s (the tokenizer adds %d special tokens), or give a prefix", as("datasets.main.prompts.random_range_ratio"),
			w.Input[0], as("datasets.main.prompts.isl.mean"), o.Special)
	}
	if r := o.Random; r != nil && (len(r.Vocabulary.Allowed) == 0 || len(r.Vocabulary.All) == 0) {
		return fmt.Errorf("%s: the vocabulary of the tokenizer has no tokens", as("datasets.main.prompts.corpus"))
	}
	return nil
}

// material tells whether there is something to make texts of.
func (o Options) material() bool { return o.Corpus != nil || o.Random != nil }

func (o Options) hasText() bool {
	return o.material() && o.Batch > 0 && (o.ISL.Mean > 0 || len(o.Pairs) > 0 || o.Window != nil)
}

// hasPool tells whether there are prefixes. Queries and passages take none.
func (o Options) hasPool() bool {
	return o.Rankings == nil && o.Context.PrefixLength > 0 && o.Context.PrefixPool > 0
}
