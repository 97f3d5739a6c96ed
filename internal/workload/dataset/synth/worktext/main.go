// Command worktext converts the collected works of Shakespeare, as the Python tool has them, to the form that package synth carries: the tokens of
// o200k_base in chunks, a number of two bytes each.
//
//	go run ./internal/workload/dataset/synth/worktext shakespeare.txt > internal/workload/dataset/synth/shakespeare.bin
//	zstd --ultra -22 --rm internal/workload/dataset/synth/shakespeare.bin
package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"slices"

	"aiperf/internal/text/tokenizer"
)

// chunkChars is the length of a full chunk: the sum of its line lengths, in bytes.
const chunkChars = 10_000

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "worktext:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: worktext shakespeare.txt > FILE")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	tok, err := tokenizer.Builtin()
	if err != nil {
		return err
	}
	var chunks [][]int32
	for _, chunk := range splitChunks(text) {
		chunks = append(chunks, tok.Append(nil, chunk))
	}
	_, err = os.Stdout.Write(pack(chunks, func(id int32) string { return tok.Decode([]int32{id}) }))
	return err
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

// pack returns the stored form of chunks of token ids, which synth.parseWorks describes.
func pack(chunks [][]int32, text func(id int32) string) []byte {
	count := map[int32]int{}
	for _, ids := range chunks {
		for _, id := range ids {
			count[id]++
		}
	}
	words := make([]int32, 0, len(count))
	for id := range count {
		words = append(words, id)
	}
	// Words of similar frequency (within a factor of eight) are in the order of their texts, because many begin like the one before.
	similar := func(id int32) int { return bits.Len(uint(count[id])) / 3 }
	slices.SortFunc(words, func(a, b int32) int { return cmp.Or(similar(b)-similar(a), cmp.Compare(text(a), text(b))) })
	code := make(map[int32]uint16, len(words)) // there are 21,755
	out := binary.AppendUvarint(nil, uint64(len(words)))
	var rests [][]byte
	before := ""
	for i, id := range words {
		code[id] = uint16(i)
		word, shared := text(id), 0
		for shared < min(len(word), len(before)) && word[shared] == before[shared] {
			shared++
		}
		out = binary.AppendUvarint(out, uint64(shared))
		rests = append(rests, []byte(word[shared:]))
		before = word
	}
	for _, rest := range rests {
		out = binary.AppendUvarint(out, uint64(len(rest)))
	}
	out = append(out, bytes.Join(rests, nil)...)
	out = binary.AppendUvarint(out, uint64(len(chunks)))
	for _, ids := range chunks {
		out = binary.AppendUvarint(out, uint64(len(ids)))
	}
	for _, ids := range chunks {
		for _, id := range ids {
			out = binary.LittleEndian.AppendUint16(out, code[id])
		}
	}
	return out
}
