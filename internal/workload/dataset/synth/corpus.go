// Package synth generates conversations: prompts of an exact number of tokens cut from the works of Shakespeare, prefixes, system prompts and user
// contexts. Lengths follow several distributions. The same seed gives the same bytes as the Python tool, on any machine.
package synth

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/programpages"
	"aiperf/internal/base/rng"
)

// Tokenizer is the part of a tokenizer that the generators need. Append and Count add no special tokens. Decode keeps the special tokens that it gets.
type Tokenizer interface {
	Append(dst []int32, text string) []int32
	Count(text string) int
	Decode(ids []int32) string
}

// The collected works of Shakespeare (public domain), plain ASCII text.
//
//go:embed shakespeare.txt.zst
var shakespeare string

// Number of o200k_base tokens of every chunk, 16 bits little-endian each.
//
//go:embed o200k_counts.bin
var o200kCounts []byte

// chunkChars is the length of a full chunk: the sum of its line lengths, in bytes.
const chunkChars = 10_000

// Corpus holds the tokens of the text that prompts are cut from. It is tokenized chunk by chunk. The chunk borders are the same on every machine.
type Corpus struct {
	coding  bool // the generated programming text, not Shakespeare
	blanks  bool // the tokenizer starts a piece at every space before a letter, see count.go
	tok     Tokenizer
	chunks  []chunk
	offsets []int // offsets[i] is the position of the first token of chunk i; the last entry is the size
}

// names are the random streams of a corpus.
type names struct{ corpus, length, prefix string }

func (c *Corpus) streams() names {
	if c != nil && c.coding {
		return names{"dataset.coding_content.corpus", "dataset.coding_content.length", "dataset.coding_content.prefix"}
	}
	return names{"dataset.prompt.corpus", "dataset.prompt.length", "dataset.prompt.prefix"}
}

type chunk struct {
	text string
	once sync.Once
	ids  []int32 // of the text, once it is needed; then the text is dropped
}

// NewCorpus tokenizes the works of Shakespeare, on all cores.
func NewCorpus(tok Tokenizer) (*Corpus, error) {
	c, err := newCorpus(tok)
	if err != nil {
		return nil, err
	}
	return c.tokenize()
}

// NewCodingCorpus generates the programming text and tokenizes it, on all cores.
func NewCodingCorpus(tok Tokenizer, root *rng.Root) (*Corpus, error) {
	c := corpusOf(tok, codingChunks(root.Stream("dataset.coding_content.template")))
	c.coding = true
	return c.tokenize()
}

func (c *Corpus) tokenize() (*Corpus, error) {
	each(len(c.chunks), func(i int) { c.chunks[i].tokenize(c.tok) })
	for i := range c.chunks {
		c.offsets[i+1] = c.offsets[i] + len(c.chunks[i].ids)
	}
	if c.Size() == 0 {
		return nil, fmt.Errorf("the tokenizer produces no tokens for the built-in prompt text")
	}
	return c, nil
}

// NewO200kCorpus returns the corpus for the built-in tokenizer. Its chunk lengths are known, so a chunk is tokenized only when it is needed.
func NewO200kCorpus(tok Tokenizer) (*Corpus, error) {
	c, err := newCorpus(tok)
	if err != nil {
		return nil, err
	}
	if len(o200kCounts) != 2*len(c.chunks) {
		return nil, fmt.Errorf("prompt corpus: it has %d chunks, but %d lengths are known", len(c.chunks), len(o200kCounts)/2)
	}
	c.blanks = true
	for i := range c.chunks {
		c.offsets[i+1] = c.offsets[i] + int(binary.LittleEndian.Uint16(o200kCounts[2*i:]))
	}
	return c, nil
}

func newCorpus(tok Tokenizer) (*Corpus, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("prompt corpus: %w", err)
	}
	defer z.Close()
	text, err := z.DecodeAll(programpages.Bytes(shakespeare), nil)
	if err != nil {
		return nil, fmt.Errorf("prompt corpus: %w", err)
	}
	return corpusOf(tok, splitChunks(text)), nil
}

// corpusOf returns a corpus of chunks that are not tokenized yet.
func corpusOf(tok Tokenizer, texts []string) *Corpus {
	c := &Corpus{tok: tok, chunks: make([]chunk, len(texts)), offsets: make([]int, len(texts)+1)}
	for i := range texts {
		c.chunks[i].text = texts[i]
	}
	return c
}

// splitChunks trims every line, drops empty ones and joins the lines into chunks with spaces.
func splitChunks(text []byte) []string {
	var chunks []string
	b := make([]byte, 0, 2*chunkChars)
	chars := 0
	flush := func() {
		if len(b) > 0 {
			chunks = append(chunks, string(b))
			b, chars = b[:0], 0
		}
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, line...)
		if chars += len(line); chars >= chunkChars {
			flush()
		}
	}
	flush()
	return chunks
}

func (c *chunk) tokenize(tok Tokenizer) []int32 {
	c.once.Do(func() { c.ids, c.text = tok.Append(make([]int32, 0, len(c.text)/3), c.text), "" })
	return c.ids
}

// Size returns the number of tokens.
func (c *Corpus) Size() int { return c.offsets[len(c.offsets)-1] }

// Append appends n tokens from position start to dst. It continues at the beginning after the end of the corpus.
func (c *Corpus) Append(dst []int32, start, n int) []int32 {
	dst = slices.Grow(dst, n)
	i := c.chunkAt(start)
	for skip := start - c.offsets[i]; n > 0; skip = 0 {
		ids := c.chunks[i].tokenize(c.tok)
		if want := c.offsets[i+1] - c.offsets[i]; len(ids) != want {
			panic(fmt.Sprintf("synth: chunk %d of the corpus has %d tokens, not %d: the known lengths belong to another tokenizer", i, len(ids), want))
		}
		ids = ids[skip:]
		if len(ids) > n {
			ids = ids[:n]
		}
		dst = append(dst, ids...)
		n -= len(ids)
		if i++; i == len(c.chunks) {
			i = 0
		}
	}
	return dst
}

// chunkAt returns the chunk that contains a position.
func (c *Corpus) chunkAt(position int) int {
	low, high := 0, len(c.chunks)
	for high-low > 1 {
		if mid := (low + high) / 2; c.offsets[mid] <= position {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// each calls f for 0…n-1 on all cores and waits.
func each(n int, f func(i int)) {
	workers := min(n, processors.Cores())
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range workers {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	wg.Wait()
}
