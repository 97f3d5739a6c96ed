// Package spm reads SentencePiece models: the protobuf in the file tokenizer.model of older model repositories.
package spm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"aiperf/internal/text/tokenizer/model"
)

// Kind is the purpose of a piece.
type Kind int

// The kinds, by their numbers in the file.
const (
	Normal      Kind = 1
	Unknown     Kind = 2
	Control     Kind = 3 // never matches in text
	UserDefined Kind = 4 // always one token
	Unused      Kind = 5
	Byte        Kind = 6 // <0xNN>
)

// Piece is one token: its text, log-probability or merge priority, and kind.
type Piece struct {
	Text  string
	Score float32
	Kind  Kind
}

// Model types.
const (
	typeUnigram = 1
	typeBPE     = 2
)

// Model is the content of a file.
type Model struct {
	Pieces       []Piece
	kind         int
	byteFallback bool
	suffix       bool // white space marks are at the end of words
	UNK          int32
	BOS, EOS     int32 // -1 = none

	charsmap     []byte
	dummyPrefix  bool
	removeSpaces bool
	escapeSpaces bool
}

// Text returns the text of a piece, "" for an unknown id.
func (m *Model) Text(id int32) string {
	if id < 0 || int(id) >= len(m.Pieces) {
		return ""
	}
	return m.Pieces[id].Text
}

// New returns an empty BPE model that falls back to bytes and does not change spaces, as in the models of the Llama family.
func New() *Model {
	return &Model{kind: typeBPE, byteFallback: true, UNK: 0, BOS: 1, EOS: 2, dummyPrefix: true, escapeSpaces: true}
}

// DummyPrefix sets whether a space is added before every text.
func (m *Model) DummyPrefix(on bool) { m.dummyPrefix = on }

// Parse reads a file.
func Parse(b []byte) (*Model, error) {
	m := &Model{
		kind: typeUnigram, UNK: 0, BOS: 1, EOS: 2, dummyPrefix: true, removeSpaces: true, escapeSpaces: true,
	}
	err := fields(b, func(n int, v value) error {
		switch n {
		case 1:
			p, err := piece(v.bytes)
			m.Pieces = append(m.Pieces, p)
			return errors.Join(err, model.FitTokens(len(m.Pieces)))
		case 2:
			return m.trainer(v.bytes)
		case 3:
			return m.normalizer(v.bytes)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("SentencePiece model: %w", err)
	}
	if len(m.Pieces) == 0 {
		return nil, fmt.Errorf("SentencePiece model: it has no pieces, so this is not a SentencePiece file")
	}
	if m.kind != typeUnigram && m.kind != typeBPE {
		return nil, fmt.Errorf("SentencePiece model: model_type %d is not supported; allowed are 1 (Unigram) and 2 (BPE)", m.kind)
	}
	if m.suffix {
		return nil, fmt.Errorf("SentencePiece model: treat_whitespace_as_suffix is not supported")
	}
	return m, nil
}

func piece(b []byte) (Piece, error) {
	p := Piece{Kind: Normal}
	err := fields(b, func(n int, v value) error {
		switch n {
		case 1:
			p.Text = string(v.bytes)
		case 2:
			p.Score = math.Float32frombits(uint32(v.number))
		case 3:
			p.Kind = Kind(v.number)
		}
		return nil
	})
	return p, err
}

func (m *Model) trainer(b []byte) error {
	return fields(b, func(n int, v value) error {
		switch n {
		case 3:
			m.kind = int(v.number)
		case 24:
			m.suffix = v.number != 0
		case 35:
			m.byteFallback = v.number != 0
		case 40:
			m.UNK = int32(v.number)
		case 41:
			m.BOS = int32(v.number)
		case 42:
			m.EOS = int32(v.number)
		}
		return nil
	})
}

func (m *Model) normalizer(b []byte) error {
	return fields(b, func(n int, v value) error {
		switch n {
		case 2:
			m.charsmap = v.bytes
		case 3:
			m.dummyPrefix = v.number != 0
		case 4:
			m.removeSpaces = v.number != 0
		case 5:
			m.escapeSpaces = v.number != 0
		}
		return nil
	})
}

// value is one field of a protobuf message: its bytes, or its number.
type value struct {
	bytes  []byte
	number uint64
}

// fields calls f for each field of a message.
func fields(b []byte, f func(n int, v value) error) error {
	for len(b) > 0 {
		key, w := binary.Uvarint(b)
		if w <= 0 {
			return fmt.Errorf("protobuf: a field's key is incomplete")
		}
		b = b[w:]
		var v value
		switch key & 7 {
		case 0:
			v.number, w = binary.Uvarint(b)
		case 1:
			if w = 8; len(b) >= 8 {
				v.number = binary.LittleEndian.Uint64(b)
			}
		case 2:
			n, k := binary.Uvarint(b)
			if k <= 0 || n > uint64(len(b)-k) {
				return fmt.Errorf("protobuf: field %d is incomplete", key>>3)
			}
			v.bytes, w = b[k:k+int(n)], k+int(n)
		case 5:
			if w = 4; len(b) >= 4 {
				v.number = uint64(binary.LittleEndian.Uint32(b))
			}
		default:
			return fmt.Errorf("protobuf: field %d has the wire type %d", key>>3, key&7)
		}
		if w <= 0 || w > len(b) {
			return fmt.Errorf("protobuf: field %d is incomplete", key>>3)
		}
		b = b[w:]
		if err := f(int(key>>3), v); err != nil {
			return err
		}
	}
	return nil
}
