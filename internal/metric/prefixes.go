package metric

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// Prompt is what Prefixes reads of a request.
type Prompt struct {
	Texts   []string // of the request: messages, tool definitions; each is a beginning of its own
	Answers []string // texts of the answer, which may come back as history
	Whole   bool     // Texts are not all of the prompt: there are pictures, sounds or token ids
	Counted bool     // valid and of a profiling phase; of another request only the texts count
	Tokens  int      // of the prompt, as the server counts them; below 1 = as the client does
	Client  int      // of the prompt, as the client counts them; below 1 = it does not
	Cached  int      // of the prompt, from the server's cache; -1 = not reported
}

// Limits of Prefixes.
const (
	prefixBlock    = 64      // bytes, in the first prefixFine bytes of a text; later blocks are 1/64 to 1/32 of what lies before them
	prefixFine     = 2048    // bytes
	prefixBlocks   = 2 << 20 // blocks of different content, about 50 MB
	templateTokens = 64      // of a request, that a chat template adds and every request has
	silentRequests = 100     // requests after which nothing is collected if the server reports nothing of a cache
	unitsOfToken   = 64      // of units
	textSpread     = 1.5     // by which texts have more tokens than estimated, where nobody counts them
	tokenSpread    = 1.3     // by which bytes per token of one part of a prompt differ from those of another, after weighing by kind of character
)

// Prefixes finds how many of a run's prompt tokens a prefix cache that was empty before can have held: those of texts whose beginning another request of
// the run has as well. The order of requests does not matter, so that the result is an upper bound also for requests in flight. Texts are cut into blocks;
// the hash of a block covers the text up to its end. It is safe for concurrent use; a nil one collects nothing.
type Prefixes struct {
	seed maphash.Seed
	// counters reports whether the server has counters of its cache.
	counters func() bool

	mu       sync.Mutex
	blocks   map[uint64]float32 // tokens of a block that one request has; repeated = several have it
	stopped  bool               // nothing reads the result, or there are more blocks than prefixBlocks
	requests int

	tokens, repeated, allowance float64 // of counted requests
	reportedOf, reported        float64 // tokens of requests whose usage names the cache, and those from it
}

// repeated marks a block that several requests have.
const repeated = -1

// NewPrefixes makes an empty one. counters reports whether the server has counters of its cache; nil = it has none.
func NewPrefixes(counters func() bool) *Prefixes {
	return &Prefixes{seed: maphash.MakeSeed(), counters: counters, blocks: map[uint64]float32{}}
}

// Wanted reports whether Add still collects.
func (p *Prefixes) Wanted() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.stopped || p.reportedOf > 0
}

// block is a piece of a text: the hash of the text up to its end, and its estimated length in tokens.
type block struct {
	hash  uint64
	units int32
}

// Add takes a request in.
func (p *Prefixes) Add(q *Prompt) {
	list := p.cut(nil, q.Texts)
	own := len(list)
	list = p.cut(list, q.Answers)
	units, bytes := 0, 0
	for _, b := range list[:own] {
		units += int(b.units)
	}
	for _, t := range q.Texts {
		bytes += len(t)
	}
	tokens := float64(max(q.Tokens, 0))
	if tokens == 0 {
		tokens = float64(max(q.Client, 0))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	scale, rest := 0.0, tokens // tokens for each unit; tokens that may have come from the cache without being a repeated block
	if units > 0 && !q.Whole {
		text := min(tokens, textSpread*float64(units)/unitsOfToken)
		if q.Client > 0 {
			text = min(tokens, float64(q.Client))
		}
		scale = text / float64(units)
		rest = min(tokens, tokens-text+templateTokens+text*float64(p.widest(q.Texts))/float64(max(bytes, 1)))
	}
	if q.Counted {
		p.tokens, p.allowance = p.tokens+tokens, p.allowance+rest
		if q.Cached >= 0 && q.Tokens > 0 {
			p.reportedOf, p.reported = p.reportedOf+tokens, p.reported+min(tokens, float64(q.Cached))
		}
	} else {
		scale = 0
	}
	if p.stopped {
		return
	}
	for i, b := range list {
		if i >= own {
			scale = 0
		}
		p.count(b, scale)
	}
	silent := p.requests == silentRequests && p.reportedOf == 0 && (p.counters == nil || !p.counters())
	if silent || len(p.blocks) > prefixBlocks {
		p.stopped, p.blocks = true, nil
	}
}

// count adds a block of a request: what several requests have counts for each of them.
func (p *Prefixes) count(b block, scale float64) {
	weight := scale * float64(b.units)
	switch before, known := p.blocks[b.hash]; {
	case !known:
		p.blocks[b.hash] = float32(weight)
	case before == repeated:
		p.repeated += weight
	default:
		p.repeated += weight + float64(before)
		p.blocks[b.hash] = repeated
	}
}

// widest is the length in bytes of the longest block of some texts: a common beginning can end inside one block.
func (p *Prefixes) widest(texts []string) int {
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	return min(longest, blockLength(max(0, longest-1)))
}

// blockLength is the length of the block that begins at a position of a text, in bytes.
func blockLength(at int) int {
	if at < prefixFine {
		return prefixBlock
	}
	return prefixBlock << (bits.Len(uint(at)) - bits.Len(uint(prefixFine)))
}

// cut appends the blocks of texts. What is left at the end of a text is a block, too.
func (p *Prefixes) cut(list []block, texts []string) []block {
	for _, t := range texts {
		hash := uint64(0)
		for at := 0; at < len(t); {
			end := min(len(t), at+blockLength(at))
			hash = bits.RotateLeft64(hash, 21)*0x9E3779B97F4A7C15 ^ maphash.String(p.seed, t[at:end])
			list = append(list, block{hash, unitsOf(t[at:end])})
			at = end
		}
	}
	return list
}

// units are the parts of a token that a character is taken for, in 1/64: words have some five letters a token, digits and signs one or two.
var units = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			table[c] = 13
		case c == ' ':
			table[c] = 2
		case c >= 0x80:
			table[c] = 24
		default:
			table[c] = 40
		}
	}
	return table
}()

func unitsOf(t string) int32 {
	n := int32(0)
	for i := range len(t) {
		n += int32(units[t[i]])
	}
	return n
}

// Use returns what is known of the cache from the requests. The share of the server is that of its usage, if most prompts have one.
func (p *Prefixes) Use() (u CacheUse) {
	if p == nil {
		return u
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u.CacheExpectedMax = 100
	if p.tokens == 0 {
		return u
	}
	if p.reportedOf > p.tokens/2 {
		u.CacheSource, u.CacheReported = "usage", 100*p.reported/p.reportedOf
	}
	if p.stopped {
		return u
	}
	share := p.repeated / p.tokens
	u.CacheExpected = 100 * share
	most := tokenSpread*share/(tokenSpread*share+1-share) + p.allowance/p.tokens
	u.CacheExpectedMax = 100 * min(1, most)
	if p.reportedOf > 0 && p.reportedOf < p.tokens { // the others may have none of the cached tokens
		u.CacheExpectedMax = min(100, u.CacheExpectedMax*p.tokens/p.reportedOf)
	}
	return u
}

// Tokens are the prompt tokens of all counted requests.
func (p *Prefixes) Tokens() float64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens
}
