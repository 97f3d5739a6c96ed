package synth

import (
	"strconv"
	"sync"

	"aiperf/internal/base/rng"
)

// Blocks generates the token blocks of hash ids. A block is a pure function of the seed, the namespace (one trace file) and the id. Equal ids
// therefore give equal text, and a server's prefix cache sees the same repetitions as in the recorded traffic.
//
// The corpus has about a million start positions. Among some thousand ids that follow the same blocks, two may therefore draw the same position. Their
// prompts would then share text that the recorded ones did not. Claim moves each such id except the first to another position.
type Blocks struct {
	corpus    *Corpus
	size      int // tokens of a full block
	separator []int32
	seed      uint64
	namespace string

	mu          sync.Mutex
	draw        rng.Stream       // stream of the current id; reused, because there are millions of ids with one draw each
	starts      map[int64]int32  // cached start positions in the corpus, by id
	single      map[uint64]int64 // first id after the same blocks; its position is drawn only when a second id comes, because most have none
	owners      map[uint64]int64 // owner of each position after the same blocks, if several ids follow these
	movedStarts map[uint64]int32 // new position of ids whose first position was taken
}

const (
	keptStarts = 1 << 18
	maxClaimed = 1 << 20 // maximum number of ids that are checked for equal positions
	maxMoves   = 64      // maximum number of positions that are tried for one id
)

// NewBlocks returns the blocks of a namespace. A separator, if given, is the first token of every block. It keeps neighbouring blocks from merging
// when the text is tokenized again.
func NewBlocks(corpus *Corpus, root *rng.Root, namespace string, size int, separator *int32) *Blocks {
	b := &Blocks{
		corpus:      corpus,
		size:        size,
		seed:        root.Child(corpus.streams().corpus),
		namespace:   namespace,
		starts:      map[int64]int32{},
		single:      map[uint64]int64{},
		owners:      map[uint64]int64{},
		movedStarts: map[uint64]int32{},
	}
	if separator != nil {
		b.separator = []int32{*separator}
	}
	return b
}

// Claim reserves the positions of a prompt's ids. Prompts must be claimed in file order, before their text is generated.
func (b *Blocks) Claim(ids []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := uint64(0)
	for _, id := range ids {
		behind := link(before, uint64(id))
		if _, known := b.movedStarts[behind]; !known && len(b.single)+len(b.owners) < maxClaimed {
			if at, moved := b.claim(before, id); moved {
				b.movedStarts[behind] = at
			}
		}
		before = behind
	}
}

// claim returns a position that no other id has after the same blocks. moved = it differs from the first position that the id draws.
func (b *Blocks) claim(before uint64, id int64) (at int32, moved bool) {
	first, known := b.single[before]
	if !known {
		b.single[before] = id
	}
	if !known || first == id {
		return 0, false
	}
	b.owners[link(before, uint64(b.start(first))|1<<63)] = first
	at = b.start(id)
	var more *rng.Stream
	for range maxMoves {
		key := link(before, uint64(at)|1<<63)
		if owner, taken := b.owners[key]; !taken || owner == id {
			b.owners[key] = id
			return at, moved
		}
		if more == nil {
			more = b.stream(id)
			more.Below(b.corpus.Size()) // skip the first draw, which is taken
		}
		at, moved = int32(more.Below(b.corpus.Size())), true
	}
	return at, false
}

// link hashes a chain of ids and one more id (the finalizer of SplitMix64).
func link(chain, id uint64) uint64 {
	h := chain*0x9e3779b97f4a7c15 + id + 1
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Append appends the blocks of the ids, at most length tokens. The last block is truncated. The result is shorter if there are too few blocks.
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

// places returns the start positions of blocks in the corpus.
func (b *Blocks) places(ids []int64) []int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, chain := make([]int32, len(ids)), uint64(0)
	for i, id := range ids {
		chain = link(chain, uint64(id))
		at, moved := b.movedStarts[chain]
		if !moved {
			at = b.start(id)
		}
		list[i] = at
	}
	return list
}

// start returns the position that an id draws.
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

// stream returns the random stream of an id. It is valid until the next call.
func (b *Blocks) stream(id int64) *rng.Stream {
	b.draw.Reset(rng.ChildSeed(b.seed, b.namespace+":"+strconv.FormatInt(id, 10)))
	return &b.draw
}

// Text decodes tokens.
func (c *Corpus) Text(ids []int32) string { return c.tok.Decode(ids) }
