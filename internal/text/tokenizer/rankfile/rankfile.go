// Package rankfile reads tiktoken rank lists: lines with a token's bytes in base64, a blank, and its rank. It also defines the packed form of the
// built-in list in the binary.
package rankfile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/text/tokenizer/model"
)

// maxRank is larger than every rank in use (a few hundred thousand). It limits the memory that a hostile file can request.
const maxRank = 1 << 24

// Parse parses a rank list.
func Parse(text []byte) (*model.Vocab, error) {
	v := model.NewVocab(min(len(text)/16, model.MaxTokens), len(text)/2)
	var buf []byte
	for n := 1; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		line = bytes.TrimRight(line, " \r")
		if len(line) == 0 {
			continue
		}
		code, number, ok := bytes.Cut(line, []byte{' '})
		if !ok {
			return nil, fmt.Errorf("line %d: found %q, expected a base64 token, a space and its rank", n, clip(line))
		}
		var err error
		if buf, err = base64.StdEncoding.AppendDecode(buf[:0], code); err != nil || len(buf) == 0 {
			return nil, fmt.Errorf("line %d: token %q is not base64", n, clip(code))
		}
		rank, err := strconv.ParseUint(string(number), 10, 32)
		if err != nil || rank >= maxRank {
			return nil, fmt.Errorf("line %d: rank %q is not a number below %d", n, clip(number), maxRank)
		}
		v.Add(buf, int32(rank))
		if err := model.FitTokens(v.Len()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if v.Len() == 0 {
		return nil, fmt.Errorf("rank list is empty")
	}
	return v, nil
}

func clip(b []byte) []byte { return b[:min(len(b), 60)] }

// Format returns the rank list as text, in the order of the vocabulary.
func Format(v *model.Vocab) []byte {
	var out []byte
	for i := range v.Len() {
		text, rank := v.Entry(i)
		out = base64.StdEncoding.AppendEncode(out, text)
		out = append(out, ' ')
		out = strconv.AppendInt(out, int64(rank), 10)
		out = append(out, '\n')
	}
	return out
}

// Pack returns a list with the ranks 0, 1, 2 … for compression with zstd: the number of tokens, a byte that no token has after its first one, and the
// tokens, each with that byte behind it. zstd makes that smaller than lengths and tokens apart.
func Pack(v *model.Vocab) ([]byte, error) {
	var used [256]bool
	for i := range v.Len() {
		text, rank := v.Entry(i)
		if int(rank) != i {
			return nil, fmt.Errorf("rank %d is at position %d: only lists without gaps can be packed", rank, i)
		}
		for _, b := range text[1:] {
			used[b] = true
		}
	}
	end := slices.Index(used[:], false)
	if end < 0 {
		return nil, errors.New("the tokens use all 256 values of a byte: none is left to mark their ends")
	}
	packed := append(binary.AppendUvarint(nil, uint64(v.Len())), byte(end))
	for i := range v.Len() {
		text, _ := v.Entry(i)
		packed = append(append(packed, text...), byte(end))
	}
	return packed, nil
}

// Unpack reads the packed form, compressed with zstd.
func Unpack(compressed []byte) (*model.Vocab, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	packed, err := dec.DecodeAll(compressed, nil)
	if err != nil {
		return nil, fmt.Errorf("packed rank list: %w", err)
	}
	count, w := binary.Uvarint(packed)
	if w <= 0 || w == len(packed) || count > uint64(len(packed)-w-1)/2 {
		return nil, fmt.Errorf("packed rank list: %d bytes are too short for the number of tokens", len(packed))
	}
	end, rest := packed[w], packed[w+1:]
	blob, ends := packed[:0], make([]uint32, count) // the texts move together, in the same memory
	for i := range ends {
		n := 0
		if len(rest) > 0 {
			n = 1 + bytes.IndexByte(rest[1:], end)
		}
		if n == 0 {
			return nil, fmt.Errorf("packed rank list: token %d has no end", i)
		}
		blob = append(blob, rest[:n]...)
		ends[i] = uint32(len(blob))
		rest = rest[n+1:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("packed rank list: %d bytes are left after the last token", len(rest))
	}
	return model.NewRanked(blob, ends), nil
}
