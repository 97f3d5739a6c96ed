package synth

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"aiperf/internal/base/programpages"
)

// The collected works of Shakespeare (public domain, plain ASCII text), as command worktext stores them.
//
//go:embed shakespeare.bin.zst
var packedWorks string

// works are the collected works of Shakespeare in chunks, as tokens of o200k_base. So the built-in tokenizer need not tokenize them, and they are
// a tenth smaller than the text.
type works struct {
	words  []string       // the texts of all different tokens
	tokens []int          // number of tokens of each chunk
	codes  []byte         // the tokens of all chunks: their indices in words, 16 bits each, little-endian
	ids    []atomic.Int32 // one more than the token of each word; 0 = not looked up yet
}

// readWorks reads the text that the program carries.
func readWorks() (*works, error) {
	stored, err := programpages.Decompress(packedWorks)
	if err != nil {
		return nil, fmt.Errorf("prompt corpus: %w", err)
	}
	return parseWorks(stored)
}

// parseWorks parses the number of words; by word, how many bytes it shares with the word before; the lengths of the rests; the rests; the number of
// chunks; their numbers of tokens; and the codes.
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
	list := func(n int) []int {
		numbers := make([]int, n)
		for i := range numbers {
			numbers[i] = number()
		}
		return numbers
	}
	w := &works{words: make([]string, number())}
	w.ids = make([]atomic.Int32, len(w.words))
	shared, rests := list(len(w.words)), list(len(w.words))
	var text strings.Builder
	text.Grow(total(shared) + total(rests))
	for i := range w.words {
		begin, n := text.Len(), min(rests[i], len(stored))
		if i > 0 {
			before := w.words[i-1]
			text.WriteString(before[:min(shared[i], len(before))])
		}
		text.Write(stored[:n])
		w.words[i], stored = text.String()[begin:], stored[n:]
	}
	w.tokens = list(number())
	all := total(w.tokens)
	if bad || all == 0 || len(stored) != 2*all {
		return nil, errors.New("prompt corpus: it is damaged")
	}
	w.codes = stored
	return w, nil
}

func total(lengths []int) (sum int) {
	for _, n := range lengths {
		sum += n
	}
	return sum
}

// texts returns the text of each chunk.
func (w *works) texts() []string {
	texts := make([]string, len(w.tokens))
	var b strings.Builder
	at := 0
	for i, n := range w.tokens {
		b.Reset()
		b.Grow(chunkChars + chunkChars/8)
		for range n {
			b.WriteString(w.words[w.word(at)])
			at++
		}
		texts[i] = b.String()
	}
	return texts
}

// word returns the index of the word at a position.
func (w *works) word(at int) int { return int(binary.LittleEndian.Uint16(w.codes[2*at:])) }

// append appends the ids of n tokens from a position on. The id of a word is looked up when it is first needed.
func (w *works) append(dst []int32, tok Tokenizer, at, n int) []int32 {
	for i := range n {
		word := w.word(at + i)
		id := w.ids[word].Load()
		if id == 0 {
			before := len(dst)
			if dst = tok.Append(dst, w.words[word]); len(dst) != before+1 {
				panic(fmt.Sprintf("synth: %q is not one token: the stored text belongs to another tokenizer", w.words[word]))
			}
			w.ids[word].Store(dst[before] + 1)
			continue
		}
		dst = append(dst, id-1)
	}
	return dst
}
