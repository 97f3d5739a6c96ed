package synth

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/programpages"
)

// The collected works of Shakespeare (public domain, plain ASCII text), as package worktext stores them.
//
//go:embed shakespeare.bin.zst
var packedWorks string

// works are the collected works of Shakespeare in chunks, as tokens of o200k_base. So the built-in tokenizer need not tokenize them, and they are a tenth
// smaller than the text.
type works struct {
	words  []string // the texts of all different tokens, the most frequent ones first
	chunks []worksChunk
	single int // a token below this number is stored as one byte, any other as two

	once sync.Once
	ids  []int32 // of the words
}

type worksChunk struct {
	tokens int
	codes  []byte // the numbers of the tokens in words
}

// readWorks reads the text that the program carries.
func readWorks() (*works, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("prompt corpus: %w", err)
	}
	defer z.Close()
	stored, err := z.DecodeAll(programpages.Bytes(packedWorks), nil)
	if err != nil {
		return nil, fmt.Errorf("prompt corpus: %w", err)
	}
	return parseWorks(stored)
}

// parseWorks parses the number of words, their lengths and their bytes, the number of chunks, their tokens and sizes, and the codes of all chunks. A
// code is the number of a word. The most frequent ones have one byte, the rest of the values begins codes of two bytes.
func parseWorks(stored []byte) (*works, error) {
	bad := false
	number := func() int {
		n, size := binary.Uvarint(stored)
		if size <= 0 || n > uint64(len(stored)) {
			bad = true
			return 0
		}
		stored = stored[size:]
		return int(n)
	}
	next := func(n int) []byte {
		n = min(n, len(stored))
		part := stored[:n:n]
		stored = stored[n:]
		return part
	}
	w := &works{words: make([]string, number())}
	lengths, all := make([]int, len(w.words)), 0
	for i := range lengths {
		lengths[i] = number()
		all += lengths[i]
	}
	text := string(next(all))
	for i, n := range lengths {
		n = min(n, len(text))
		w.words[i], text = text[:n], text[n:]
	}
	w.single = 256 - (max(len(w.words), 256)-256+254)/255
	w.chunks = make([]worksChunk, number())
	sizes := make([]int, len(w.chunks))
	for i := range w.chunks {
		w.chunks[i].tokens, sizes[i] = number(), number()
	}
	for i, size := range sizes {
		w.chunks[i].codes = next(size)
	}
	if bad || len(w.chunks) == 0 {
		return nil, errors.New("prompt corpus: it is damaged")
	}
	return w, nil
}

// texts returns the text of each chunk.
func (w *works) texts() []string {
	texts := make([]string, len(w.chunks))
	var b strings.Builder
	for i, c := range w.chunks {
		b.Reset()
		b.Grow(chunkChars + chunkChars/8)
		for codes := c.codes; len(codes) > 0; {
			var word int
			word, codes = w.next(codes)
			b.WriteString(w.words[word])
		}
		texts[i] = b.String()
	}
	return texts
}

// next returns the number of the first word of a list of codes, and the rest of the list.
func (w *works) next(codes []byte) (word int, rest []byte) {
	if first := int(codes[0]); first >= w.single {
		return w.single + (first-w.single)<<8 + int(codes[1]), codes[2:]
	}
	return int(codes[0]), codes[1:]
}

// append appends n token ids of a chunk from position skip on.
func (w *works) append(dst []int32, tok Tokenizer, chunk, skip, n int) []int32 {
	w.once.Do(func() { w.ids = idsOf(w.words, tok) })
	codes := w.chunks[chunk].codes
	for range skip {
		if int(codes[0]) >= w.single {
			codes = codes[1:]
		}
		codes = codes[1:]
	}
	for range n {
		var word int
		word, codes = w.next(codes)
		dst = append(dst, w.ids[word])
	}
	return dst
}

// idsOf returns the token of each word.
func idsOf(words []string, tok Tokenizer) []int32 {
	list := make([]int32, 0, len(words))
	for i, word := range words {
		if list = tok.Append(list, word); len(list) != i+1 {
			panic(fmt.Sprintf("synth: %q is not one token: the stored text belongs to another tokenizer", word))
		}
	}
	return list
}
