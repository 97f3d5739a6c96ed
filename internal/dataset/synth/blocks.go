package synth

import (
	"strconv"
	"sync"

	"aiperf/internal/rng"
)

// Blocks makes the token blocks that hash ids stand for. A block is a pure function of the seed, the namespace (one trace file) and the
// id, so equal ids give equal text and a server's prefix cache sees what it saw in the traffic that was recorded.
//
// The corpus has about a million places where a block can begin, so of some thousand ids that follow the same blocks two draw the same place:
// their prompts would share what the traffic did not. Of those, each but the first is moved to another place (Claim).
type Blocks struct {
	corpus    *Corpus
	size      int // tokens of a full block
	separator []int32
	seed      uint64
	namespace string

	mu     sync.Mutex
	draw   rng.Stream       // of the id that is drawn for: there are millions of them, each for one draw
	starts map[int64]int32  // places in the corpus by id, as many as are kept
	single map[uint64]int64 // first id behind the same blocks; its place is drawn when a second one comes: most have none beside them
	taken  map[uint64]int64 // first id of a place behind the same blocks, where there are several
	moved  map[uint64]int32 // places of ids behind the same blocks where another id has theirs
}

const (
	keptStarts  = 1 << 18
	mostClaimed = 1 << 20 // ids that are told apart from others behind the same blocks
	mostMoves   = 64      // places that are tried for one
)

// NewBlocks returns the blocks of a namespace. The separator, if there is one, is the first token of every block, so that neighbours do
// not merge when the text is encoded again.
func NewBlocks(corpus *Corpus, root *rng.Root, namespace string, size int, separator *int32) *Blocks {
	b := &Blocks{
		corpus:    corpus,
		size:      size,
		seed:      root.Child(corpus.streams().corpus),
		namespace: namespace,
		starts:    map[int64]int32{},
		single:    map[uint64]int64{},
		taken:     map[uint64]int64{},
		moved:     map[uint64]int32{},
	}
	if separator != nil {
		b.separator = []int32{*separator}
	}
	return b
}

// Claim notes the ids of a prompt. Prompts are claimed in the order of their file, before their text is made.
func (b *Blocks) Claim(ids []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := uint64(0)
	for _, id := range ids {
		behind := link(before, uint64(id))
		if _, known := b.moved[behind]; !known && len(b.single)+len(b.taken) < mostClaimed {
			if at, moved := b.claim(before, id); moved {
				b.moved[behind] = at
			}
		}
		before = behind
	}
}

// claim finds a place that no other id has behind the same blocks. moved = it is not the first one that the id draws.
func (b *Blocks) claim(before uint64, id int64) (at int32, moved bool) {
	first, known := b.single[before]
	if !known {
		b.single[before] = id
	}
	if !known || first == id {
		return 0, false
	}
	b.taken[link(before, uint64(b.start(first))|1<<63)] = first
	at = b.start(id)
	var more *rng.Stream
	for range mostMoves {
		key := link(before, uint64(at)|1<<63)
		if owner, taken := b.taken[key]; !taken || owner == id {
			b.taken[key] = id
			return at, moved
		}
		if more == nil {
			more = b.stream(id)
			more.Below(b.corpus.Size()) // that is the taken one
		}
		at, moved = int32(more.Below(b.corpus.Size())), true
	}
	return at, false
}

// link is a hash of a chain of ids and one more (the finalizer of SplitMix64).
func link(chain, id uint64) uint64 {
	h := chain*0x9e3779b97f4a7c15 + id + 1
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Append appends the blocks of the ids, length tokens at most: the last block is cut. Fewer tokens come if the blocks are shorter.
func (b *Blocks) Append(dst []int32, ids []int64, length int) []int32 {
	places := b.places(ids)
	for i := range ids {
		n := min(b.size, length)
		if n < 1 {
			break
		}
		length -= n
		dst = append(dst, b.separator...)
		dst = b.corpus.Append(dst, int(places[i]), n-len(b.separator))
	}
	return dst
}

// places are where the blocks of ids begin in the corpus.
func (b *Blocks) places(ids []int64) []int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, chain := make([]int32, len(ids)), uint64(0)
	for i, id := range ids {
		chain = link(chain, uint64(id))
		at, moved := b.moved[chain]
		if !moved {
			at = b.start(id)
		}
		list[i] = at
	}
	return list
}

// start is the place that an id draws.
func (b *Blocks) start(id int64) int32 {
	at, ok := b.starts[id]
	if !ok {
		if len(b.starts) >= keptStarts {
			clear(b.starts)
		}
		at = int32(b.stream(id).Below(b.corpus.Size()))
		b.starts[id] = at
	}
	return at
}

// stream is where an id draws from, until another one does.
func (b *Blocks) stream(id int64) *rng.Stream {
	b.draw.Reset(rng.ChildSeed(b.seed, b.namespace+":"+strconv.FormatInt(id, 10)))
	return &b.draw
}

// Text decodes tokens.
func (c *Corpus) Text(ids []int32) string { return c.tok.Decode(ids) }
