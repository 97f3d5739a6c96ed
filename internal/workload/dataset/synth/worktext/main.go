// Command worktext converts the collected works of Shakespeare, as the Python tool has them, to the form that package synth carries: the tokens of
// o200k_base in chunks, a number of two bytes each.
//
//	go run ./internal/workload/dataset/synth/worktext shakespeare.txt | zstd --ultra -22 > internal/workload/dataset/synth/shakespeare.bin.zst
package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
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
	slices.SortFunc(words, func(a, b int32) int { return cmp.Or(count[b]-count[a], int(a-b)) })
	number := make(map[int32]uint16, len(words)) // there are 21,755
	out := binary.AppendUvarint(nil, uint64(len(words)))
	for i, id := range words {
		number[id] = uint16(i)
		out = binary.AppendUvarint(out, uint64(len(text(id))))
	}
	for _, id := range words {
		out = append(out, text(id)...)
	}
	out = binary.AppendUvarint(out, uint64(len(chunks)))
	for _, ids := range chunks {
		out = binary.AppendUvarint(out, uint64(len(ids)))
	}
	for _, ids := range chunks {
		for _, id := range ids {
			out = binary.LittleEndian.AppendUint16(out, number[id])
		}
	}
	return out
}
