package synth

import (
	"strconv"
	"sync"

	"aiperf/internal/rng"
)

// Blocks makes the token blocks that hash ids stand for. A block is a pure function of the seed, the namespace (one trace file) and the
// id, so equal ids give equal text and a server's prefix cache sees what it saw in the traffic that was recorded.
type Blocks struct {
	corpus    *Corpus
	size      int // tokens of a full block
	separator []int32
	seed      uint64
	namespace string

	mu     sync.Mutex
	starts map[int64]int32 // places in the corpus by id
}

// NewBlocks returns the blocks of a namespace. The separator, if there is one, is the first token of every block, so that neighbours do
// not merge when the text is encoded again.
func NewBlocks(corpus *Corpus, root *rng.Root, namespace string, size int, separator *int32) *Blocks {
	b := &Blocks{
		corpus:    corpus,
		size:      size,
		seed:      root.Child(corpus.streams().corpus),
		namespace: namespace,
		starts:    map[int64]int32{},
	}
	if separator != nil {
		b.separator = []int32{*separator}
	}
	return b
}

// Append appends the blocks of the ids, length tokens at most: the last block is cut. Fewer tokens come if the blocks are shorter.
func (b *Blocks) Append(dst []int32, ids []int64, length int) []int32 {
	for _, id := range ids {
		n := min(b.size, length)
		if n < 1 {
			break
		}
		length -= n
		dst = append(dst, b.separator...)
		dst = b.corpus.Append(dst, b.start(id), n-len(b.separator))
	}
	return dst
}

// start is the place of a block in the corpus.
func (b *Blocks) start(id int64) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.starts[id]
	if !ok {
		seed := rng.ChildSeed(b.seed, b.namespace+":"+strconv.FormatInt(id, 10))
		at = int32(rng.NewStream(seed).Below(b.corpus.Size()))
		b.starts[id] = at
	}
	return int(at)
}

// Text decodes tokens.
func (c *Corpus) Text(ids []int32) string { return c.tok.Decode(ids) }
