package synth

import (
	"fmt"
	"slices"
	"sync"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/rng"
	"aiperf/internal/workload/dataset/rowstore"
)

const (
	blockPrompts = 64     // maximum number of prompts that are checked together
	blockTokens  = 65_536 // number of tokens at which a block is large enough
)

// Sequence generates prompts of exact lengths in the order of the requests. Its draws have the order of the Python tool. Each prompt draws one start
// position in the corpus. Rarely, a prompt draws more, to repair a text with another number of tokens than it was cut from. Prompt i therefore depends
// on all earlier ones. They are generated one block ahead of use. Only the positions are stored; a text is decoded again when it is requested.
type Sequence struct {
	corpus   *Corpus // nil for random ids
	tok      Tokenizer
	prefixes [][]int32

	generating sync.Mutex   // locked while a block is generated
	from       promptSource // its draws are guarded by making
	blockSize  int          // number of prompts drawn at once, assuming that none needs a repair; guarded by making

	mu            sync.RWMutex
	prompts       rowstore.Column[prompt]
	placedPrompts int            // number of prompts whose position is known
	fixed         map[int]string // texts of repaired prompts
	inexact       int            // number of prompts whose length is not exact
	ahead         bool           // a goroutine generates the next block
}

// prompt is one text: tokens of the corpus from start on, after a prefix.
type prompt struct {
	start, tokens int32
	prefix        int32 // index into the pool, or NoPrefix or loose
}

const (
	// NoPrefix marks a prompt without a prefix.
	NoPrefix = -1
	// uncheckedLength marks tokens that are used unchecked, whatever the token count of their text.
	uncheckedLength = -2
)

// NewSequence returns an empty sequence over the corpus.
func NewSequence(corpus *Corpus, root *rng.Root) *Sequence {
	return newSequence(corpus, corpus.tok, &corpusSource{corpus, root.Stream(corpus.streams().corpus), root.Child("dataset.prompt.retry")})
}

// newRandom returns an empty sequence of prompts of random ids.
func newRandom(tok Tokenizer, from *randomSource) *Sequence { return newSequence(nil, tok, from) }

func newSequence(corpus *Corpus, tok Tokenizer, from promptSource) *Sequence {
	return &Sequence{corpus: corpus, tok: tok, from: from, blockSize: blockPrompts, fixed: map[int]string{}}
}

// Corpus returns the source of the prompts; nil for random ids.
func (s *Sequence) Corpus() *Corpus { return s.corpus }

// AddPool generates count prefixes of the given length. All prompts requested before must already be generated.
func (s *Sequence) AddPool(count, tokens int) {
	s.generating.Lock()
	defer s.generating.Unlock()
	for k := range count {
		text, exact := s.exact(s.from.prefix(nil, tokens), tokens, -1-k, func(own promptSource) []int32 { return own.prefix(nil, tokens) })
		s.prefixes = append(s.prefixes, s.tok.Append(nil, text))
		if !exact {
			s.inexact++
		}
	}
}

// Add requests one more prompt and returns its index. The prompt has the given number of tokens after prefix (an index into the pool, or NoPrefix).
func (s *Sequence) Add(tokens, prefix int) int {
	if tokens < 1 && prefix < 0 {
		panic(fmt.Sprintf("synth: prompt of %d tokens", tokens))
	}
	return s.add(prompt{tokens: int32(tokens), prefix: int32(prefix)})
}

// AddUnchecked requests tokens that are part of a larger text. They are drawn in order but their count is not checked.
func (s *Sequence) AddUnchecked(tokens int) int {
	return s.add(prompt{tokens: int32(tokens), prefix: uncheckedLength})
}

func (s *Sequence) add(p prompt) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts.Add(p)
	return s.prompts.Len() - 1
}

// Text returns the text of prompt i.
func (s *Sequence) Text(i int) string {
	text, _ := s.Counted(i)
	return text
}

// Counted returns the text of prompt i and its number of tokens; 0 = the number was not checked, or is not exact.
func (s *Sequence) Counted(i int) (text string, tokens int) {
	p, repaired := s.placed(i)
	switch {
	case repaired != nil:
		return *repaired, 0
	case p.prefix != uncheckedLength:
		tokens = s.length(p)
	}
	return s.tok.Decode(s.ids(nil, p)), tokens
}

// Tokens appends the tokens of prompt i, which was requested with AddUnchecked.
func (s *Sequence) Tokens(dst []int32, i int) []int32 {
	p, _ := s.placed(i)
	return s.ids(dst, p)
}

// placed returns the position of prompt i, or its text if it was repaired.
func (s *Sequence) placed(i int) (p prompt, repaired *string) {
	for {
		s.mu.RLock()
		p, ready := *s.prompts.Ref(i), i < s.placedPrompts
		text, fixed := s.fixed[i]
		hurry := ready && !s.ahead && s.placedPrompts < s.prompts.Len() && s.placedPrompts-i < blockPrompts/2
		s.mu.RUnlock()
		if hurry {
			s.makeAhead()
		}
		switch {
		case fixed:
			return p, &text
		case ready:
			return p, nil
		}
		s.generating.Lock()
		s.makeBlock(i)
		s.generating.Unlock()
	}
}

// release forgets all prompts, after a block that is being generated.
func (s *Sequence) release() {
	if s == nil {
		return
	}
	s.generating.Lock()
	defer s.generating.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts, s.placedPrompts, s.fixed = rowstore.Column[prompt]{}, 0, map[int]string{}
}

// Inexact returns the number of prompts so far whose token count differs from the requested one.
func (s *Sequence) Inexact() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.inexact
}

// makeAhead generates one block in the background, unless that is already running.
func (s *Sequence) makeAhead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ahead {
		return
	}
	s.ahead = true
	go func() {
		s.generating.Lock()
		s.mu.RLock()
		next := s.placedPrompts
		s.mu.RUnlock()
		s.makeBlock(next)
		s.generating.Unlock()
		s.mu.Lock()
		s.ahead = false
		s.mu.Unlock()
	}()
}

// makeBlock determines the positions of the next block of prompts, unless prompt i is already known. The caller holds making.
func (s *Sequence) makeBlock(i int) {
	first, block := s.nextBlock()
	if i < first || len(block) == 0 {
		return
	}
	fixed := map[int]string{}
	inexact := s.check(block, first, fixed)

	s.mu.Lock()
	defer s.mu.Unlock()
	for k, p := range block {
		*s.prompts.Ref(first + k) = p
	}
	for k, text := range fixed {
		s.fixed[k] = text
	}
	s.placedPrompts += len(block)
	s.inexact += inexact
}

// nextBlock returns the next prompts to place, and the index of the first.
func (s *Sequence) nextBlock() (first int, block []prompt) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	first = s.placedPrompts
	for tokens := 0; first+len(block) < s.prompts.Len() && len(block) < blockPrompts; {
		p := *s.prompts.Ref(first + len(block))
		block = append(block, p)
		if tokens += int(p.tokens); tokens >= blockTokens && len(block) >= processors.Cores() {
			break
		}
	}
	return first, block
}

// check draws the starts of several prompts, assuming that none needs a repair, and checks them on all cores. From the first prompt that needs a
// repair, it draws again in order. If few prompts pass the check, it tries fewer at once.
func (s *Sequence) check(block []prompt, first int, fixed map[int]string) (inexact int) {
	for len(block) > 0 {
		reset := s.from.mark()
		tried := block[:min(len(block), s.blockSize)]
		s.place(tried)
		good := make([]bool, len(tried))
		each(len(tried), func(i int) {
			good[i] = tried[i].prefix == uncheckedLength || s.count(tried[i]) == s.length(tried[i])
		})
		bad := slices.Index(good, false)
		if bad < 0 {
			s.blockSize = min(2*s.blockSize, blockPrompts)
			first += len(tried)
			block = block[len(tried):]
			continue
		}
		s.blockSize = max(1, s.blockSize/4)
		reset()
		s.place(tried[:bad+1])
		text, exact := s.repair(tried[bad], first+bad)
		fixed[first+bad] = text
		if !exact {
			inexact++
		}
		first += bad + 1
		block = block[bad+1:]
	}
	return inexact
}

// place draws the start positions of prompts.
func (s *Sequence) place(prompts []prompt) {
	for i := range prompts {
		prompts[i].start = int32(s.from.start())
	}
}

// ids appends the tokens that a prompt is cut from.
func (s *Sequence) ids(dst []int32, p prompt) []int32 {
	if p.prefix >= 0 {
		dst = append(dst, s.prefixes[p.prefix]...)
	}
	return s.from.appendTokens(dst, int(p.start), int(p.tokens))
}

// length returns the number of tokens that the text of a prompt must have.
func (s *Sequence) length(p prompt) int {
	if p.prefix >= 0 {
		return len(s.prefixes[p.prefix]) + int(p.tokens)
	}
	return int(p.tokens)
}
