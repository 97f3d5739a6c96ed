// Package synth generates conversations: prompts of an exact number of tokens cut from the works of Shakespeare, prefixes, system prompts and user
// contexts. Lengths follow several distributions. The same seed gives the same bytes as the Python tool, on any machine.
package synth

import (
	"fmt"
	"slices"
	"sync"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/rng"
)

// Tokenizer is the part of a tokenizer that the generators need. Append and Count add no special tokens. Decode keeps the special tokens that it gets.
type Tokenizer interface {
	Append(dst []int32, text string) []int32
	Count(text string) int
	Decode(ids []int32) string
}

// chunkChars is the length of a full chunk: the sum of its line lengths, in bytes.
const chunkChars = 10_000

// Corpus holds the tokens of the text that prompts are cut from. It is tokenized chunk by chunk. The chunk borders are the same on every machine.
type Corpus struct {
	coding  bool // the generated programming text, not Shakespeare
	blanks  bool // the tokenizer starts a piece at every space before a letter, see count.go
	tok     Tokenizer
	chunks  []chunk
	works   *works // instead of chunks, for the built-in tokenizer: the stored tokens are its own
	offsets []int  // offsets[i] is the position of the first token of chunk i; the last entry is the size
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
	text string // dropped when ids has its tokens
	ids  []int32
}

// NewCorpus tokenizes the works of Shakespeare, on all cores.
func NewCorpus(tok Tokenizer) (*Corpus, error) {
	w, err := readWorks()
	if err != nil {
		return nil, err
	}
	return corpusOf(tok, w.texts()).tokenize()
}

// NewCodingCorpus generates the programming text and tokenizes it, on all cores.
func NewCodingCorpus(tok Tokenizer, root *rng.Root) (*Corpus, error) {
	c := corpusOf(tok, codingChunks(root.Stream("dataset.coding_content.template")))
	c.coding = true
	return c.tokenize()
}

func (c *Corpus) tokenize() (*Corpus, error) {
	each(len(c.chunks), func(i int) {
		text := c.chunks[i].text
		c.chunks[i] = chunk{ids: c.tok.Append(make([]int32, 0, len(text)/3), text)}
	})
	for i := range c.chunks {
		c.offsets[i+1] = c.offsets[i] + len(c.chunks[i].ids)
	}
	if c.Size() == 0 {
		return nil, fmt.Errorf("the tokenizer produces no tokens for the built-in prompt text")
	}
	return c, nil
}

// NewO200kCorpus returns the corpus for the built-in tokenizer. It needs no tokenization, because the text is stored as tokens of o200k_base.
func NewO200kCorpus(tok Tokenizer) (*Corpus, error) {
	w, err := readWorks()
	if err != nil {
		return nil, err
	}
	c := &Corpus{tok: tok, blanks: true, works: w, offsets: make([]int, len(w.tokens)+1)}
	for i, n := range w.tokens {
		c.offsets[i+1] = c.offsets[i] + n
	}
	return c, nil
}

// corpusOf returns a corpus of chunks that are not tokenized yet.
func corpusOf(tok Tokenizer, texts []string) *Corpus {
	c := &Corpus{tok: tok, chunks: make([]chunk, len(texts)), offsets: make([]int, len(texts)+1)}
	for i := range texts {
		c.chunks[i].text = texts[i]
	}
	return c
}

// Size returns the number of tokens.
func (c *Corpus) Size() int { return c.offsets[len(c.offsets)-1] }

// Append appends n tokens from position start to dst. It continues at the beginning after the end of the corpus.
func (c *Corpus) Append(dst []int32, start, n int) []int32 {
	dst = slices.Grow(dst, n)
	i := c.chunkAt(start)
	for skip := start - c.offsets[i]; n > 0; skip = 0 {
		most := min(n, c.offsets[i+1]-c.offsets[i]-skip)
		if c.works != nil {
			dst = c.works.append(dst, c.tok, c.offsets[i]+skip, most)
		} else {
			dst = append(dst, c.chunks[i].ids[skip:skip+most]...)
		}
		n -= most
		if i++; i == len(c.offsets)-1 {
			i = 0
		}
	}
	return dst
}

// chunkAt returns the chunk that contains a position.
func (c *Corpus) chunkAt(position int) int {
	low, high := 0, len(c.offsets)-1
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
