package metric

import (
	"math/bits"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Prompt is the input of Prefixes for a request.
type Prompt struct {
	Texts   []string // texts of the request: messages, tool definitions; each may be a shared beginning
	Answers []string // texts of the answer, which later requests may contain as history
	Whole   bool     // the prompt has other parts as well: images, sounds or token ids
	Counted bool     // a valid request of a profiling phase; of other requests only the texts count
	Tokens  int      // prompt tokens as the server counts them; below 1 = use the client's count
	Client  int      // prompt tokens as the client counts them; below 1 = unknown
	Cached  int      // prompt tokens from the server's cache; -1 = not reported
}

// Limits of Prefixes.
const (
	prefixBlock    = 64      // bytes, within the first prefixFine bytes of a text; later blocks are 1/64 to 1/32 of the text before them
	prefixFine     = 2048    // bytes
	prefixBlocks   = 2 << 20 // number of different blocks, about 50 MB
	templateTokens = 64      // tokens of a request that a chat template adds, equal for all requests
	silentRequests = 100     // requests without a report about the cache after which collection stops
	unitsOfToken   = 64      // units per token
	textSpread     = 1.5     // factor by which texts may have more tokens than estimated, if nobody counts them
	tokenSpread    = 1.3     // factor by which bytes per token may differ between parts of a prompt, after weighting by kind of character
)

// Prefixes estimates how many prompt tokens of a run may come from a prefix cache that was empty before: those of texts whose beginning another
// request shares. The order of requests does not matter, so the result is an upper bound even with requests in flight. Texts are split into blocks,
// and the hash of a block covers the text up to its end. It is the same on all machines, unlike those of hash/maphash, so
// that what several machines collect can be merged. Prefixes is safe for concurrent use; a nil one collects nothing.
type Prefixes struct {
	// counters reports whether the server has counters of its cache.
	counters func() bool

	mu       sync.Mutex
	blocks   map[uint64]float32 // tokens of a block in one request; repeated = several requests have it
	stopped  bool               // nobody reads the result, or there are more blocks than prefixBlocks
	requests int

	tokens, repeated, allowance float64 // sums over counted requests
	reportedOf, reported        float64 // tokens of requests whose usage reports the cache, and the cached ones
}

// repeated marks a block that several requests share.
const repeated = -1

// NewPrefixes returns an empty Prefixes. counters reports whether the server has counters of its cache; nil = it has none.
func NewPrefixes(counters func() bool) *Prefixes {
	return &Prefixes{counters: counters, blocks: map[uint64]float32{}}
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

// block is a part of a text: the hash of the text up to its end, and its estimated length in tokens.
type block struct {
	hash  uint64
	units int32
}

// Add adds a request.
func (p *Prefixes) Add(q *Prompt) {
	list := appendBlocks(nil, q.Texts)
	own := len(list)
	list = appendBlocks(list, q.Answers)
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
	scale, rest := 0.0, tokens // tokens per unit; tokens that may be cached without being in a repeated block
	if units > 0 && !q.Whole {
		text := min(tokens, textSpread*float64(units)/unitsOfToken)
		if q.Client > 0 {
			text = min(tokens, float64(q.Client))
		}
		scale = text / float64(units)
		rest = min(tokens, tokens-text+templateTokens+text*float64(p.longestBlock(q.Texts))/float64(max(bytes, 1)))
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

// count adds a block of a request. A block that several requests share counts for each of them.
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

// longestBlock returns the length in bytes of the longest block of some texts, because a common beginning may end inside a block.
func (p *Prefixes) longestBlock(texts []string) int {
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	return min(longest, blockLength(max(0, longest-1)))
}

// blockLength returns the length in bytes of the block at a position of a text.
func blockLength(at int) int {
	if at < prefixFine {
		return prefixBlock
	}
	return prefixBlock << (bits.Len(uint(at)) - bits.Len(uint(prefixFine)))
}

// appendBlocks appends the blocks of texts. The rest at the end of a text is a block, too.
func appendBlocks(list []block, texts []string) []block {
	for _, t := range texts {
		hash := uint64(0)
		for at := 0; at < len(t); {
			end := min(len(t), at+blockLength(at))
			hash = bits.RotateLeft64(hash, 21)*0x9E3779B97F4A7C15 ^ xxhash.Sum64String(t[at:end])
			list = append(list, block{hash, unitsOf(t[at:end])})
			at = end
		}
	}
	return list
}

// units are estimates of the tokens per character, in 1/64: words have some five letters per token, digits and signs one or two.
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

// Use returns the cache use according to the requests. The server's share comes from its usage if most prompts report one.
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
		u.CacheSource, u.CacheReported = usageSource, 100*p.reported/p.reportedOf
	}
	if p.stopped {
		return u
	}
	share := p.repeated / p.tokens
	u.CacheExpected = 100 * share
	most := tokenSpread*share/(tokenSpread*share+1-share) + p.allowance/p.tokens
	u.CacheExpectedMax = 100 * min(1, most)
	if p.reportedOf > 0 && p.reportedOf < p.tokens { // the others may have no cached tokens
		u.CacheExpectedMax = min(100, u.CacheExpectedMax*p.tokens/p.reportedOf)
	}
	return u
}

// Tokens returns the prompt tokens of all counted requests.
func (p *Prefixes) Tokens() float64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens
}
