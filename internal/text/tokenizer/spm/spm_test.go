package spm

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/pipeline"
)

// field writes a protobuf field of bytes.
func field(n int, b []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(n<<3|2))
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

// num writes a protobuf field of a number.
func num(n int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(n<<3)), v)
}

// file writes a model of pieces: text, score, kind.
func file(kind int, pieces ...Piece) []byte {
	var out []byte
	for _, p := range pieces {
		b := field(1, []byte(p.Text))
		b = append(b, 2<<3|5)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(p.Score))
		out = append(out, field(1, append(b, num(3, uint64(p.Kind))...))...)
	}
	return append(out, field(2, num(3, uint64(kind)))...)
}

var pieces = []Piece{
	{"<unk>", 0, Unknown}, {"<s>", 0, Control}, {"</s>", 0, Control}, {"▁", -3, Normal}, {"a", -2, Normal}, {"b", -2.5, Normal},
	{"ab", -1, Normal}, {"▁ab", -0.5, Normal}, {"<x>", 0, UserDefined},
}

func TestEncode(t *testing.T) {
	for _, kind := range []int{typeUnigram, typeBPE} {
		m, err := Parse(file(kind, pieces...))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Pipeline(nil)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string][]int32{
			"": nil, "ab": {7}, "  ab   ab ": {7, 7}, "ba": {3, 5, 4}, "a??b": {3, 4, 0, 5}, "ab<x>b": {7, 8, 5}, "<s>": {3, 0},
		} {
			if got := idsOf(t, p, nil, text); !slices.Equal(got, want) {
				t.Errorf("kind %d: %q gives %v, want %v", kind, text, got, want)
			}
		}
		if got := p.Decode([]int32{7, 7, 8}); got != "ab ab<x>" {
			t.Errorf("Decode = %q", got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for says, b := range map[string][]byte{
		"no pieces": nil, "model_type 4": file(4, pieces...), "incomplete": {0x0A, 0x7F}, "wire type": {0x0F},
	} {
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(typeBPE, pieces...), "ab <x>")
	f.Add(append(file(typeUnigram, pieces...), field(3, field(2, make([]byte, 40)))...), "aé")
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		if len(text) > 100 {
			return
		}
		m, err := Parse(b)
		if err != nil {
			return
		}
		p, err := m.Pipeline(nil)
		if err != nil {
			return
		}
		_ = p.Decode(idsOf(t, p, nil, text))
	})
}

// TestModelOfPieces: a model that another format holds, with and without the space that most put in front of a text, and tokens that a
// configuration adds to it.
func TestModelOfPieces(t *testing.T) {
	for _, front := range []bool{true, false} {
		m := New()
		m.Pieces = append(m.Pieces, pieces...)
		m.DummyPrefix(front)
		p, err := m.Pipeline([]addedtokens.Token{{ID: 20, Content: "<new>"}})
		if err != nil {
			t.Fatal(err)
		}
		want := []int32{7, 20, 3, 4} // each stretch begins with a space
		if !front {
			want = []int32{6, 20, 4}
		}
		if got := idsOf(t, p, nil, "ab<new>a"); !slices.Equal(got, want) {
			t.Errorf("front %v: %v, want %v", front, got, want)
		}
		id := m.ID([]addedtokens.Token{{ID: 20, Content: "<new>"}})
		if id("<new>") != 20 || id("ab") != 6 || id("none") >= 0 || m.Text(6) != "ab" || m.Text(-1) != "" || m.Text(99) != "" {
			t.Errorf("ids %d %d %d, text %q", id("<new>"), id("ab"), id("none"), m.Text(6))
		}
	}
}

// idsOf are the ids of a text.
func idsOf(t *testing.T, p *pipeline.Pipeline, dst []int32, text string) []int32 {
	t.Helper()
	ids, err := p.Append(pipeline.Limits(len(text)), dst, text)
	if n, cerr := p.Count(pipeline.Limits(len(text)), text); err != nil || cerr != nil || n != len(ids)-len(dst) {
		t.Errorf("%q: %v, %v, %d counted of %d ids", text, err, cerr, n, len(ids)-len(dst))
	}
	return ids
}
