// Package rankfile reads tiktoken rank lists: lines with a token's bytes in base64, a blank, and its rank. It also defines the packed form of the
// built-in list in the binary.
package rankfile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
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

// Pack returns the packed form of a list with the ranks 0, 1, 2 …: zstd over the number of tokens, all lengths, all bytes.
func Pack(v *model.Vocab) ([]byte, error) {
	lengths := binary.AppendUvarint(nil, uint64(v.Len()))
	var all []byte
	for i := range v.Len() {
		text, rank := v.Entry(i)
		if int(rank) != i {
			return nil, fmt.Errorf("rank %d is at position %d: only lists without gaps can be packed", rank, i)
		}
		lengths = binary.AppendUvarint(lengths, uint64(len(text)))
		all = append(all, text...)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20))
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(append(lengths, all...), nil), enc.Close()
}

// Unpack reads the packed form.
func Unpack(packed []byte) (*model.Vocab, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("packed rank list: %w", err)
	}
	count, w := binary.Uvarint(raw)
	if w <= 0 || count > uint64(len(raw)) {
		return nil, fmt.Errorf("packed rank list: %d bytes are too short for the number of tokens", len(raw))
	}
	lengths, size := raw[w:], 0
	for range count {
		n, w := binary.Uvarint(lengths)
		if w <= 0 || n > uint64(len(raw)) {
			return nil, fmt.Errorf("packed rank list: the list of lengths is incomplete")
		}
		lengths = lengths[w:]
		size += int(n)
	}
	all := lengths
	if size != len(all) {
		return nil, fmt.Errorf("packed rank list: it has %d bytes of tokens, but the lengths add up to %d", len(all), size)
	}
	v := model.NewVocab(int(count), size)
	lengths = raw[w:]
	for i := range count {
		n, w := binary.Uvarint(lengths)
		lengths = lengths[w:]
		v.Add(all[:n], int32(i))
		all = all[n:]
	}
	return v, nil
}
