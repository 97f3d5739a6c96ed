package tokenizer

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/scanner"
	"aiperf/internal/text/tokenizer/spm"
)

// ggufPatterns maps tokenizer.ggml.pre to the split of byte-level vocabularies.
var ggufPatterns = map[string]string{
	"default": scanner.PatternGPT2, "gpt-2": scanner.PatternGPT2, "llama-bpe": scanner.PatternCL100K, "llama3": scanner.PatternCL100K,
	"qwen2": scanner.PatternQwen, "gpt-4o": scanner.PatternO200K, "tekken": scanner.PatternTekken, "chatglm-bpe": scanner.PatternCL100K,
}

// The types of values in a GGUF header.
const (
	ggufString = 8
	ggufArray  = 9
)

// ggufSizes are the sizes of fixed types in bytes: u8 i8 u16 i16 u32 i32 f32 bool, then u64 i64 f64.
var ggufSizes = map[uint32]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// ggufReader reads the header of a GGUF file: keys with typed values. Memory use depends only on the data read, not on sizes that a file claims.
type ggufReader struct {
	r   *bufio.Reader
	err error
}

func (g *ggufReader) number(size int) (v uint64) {
	var b [8]byte
	if g.err == nil {
		_, g.err = io.ReadFull(g.r, b[:size])
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (g *ggufReader) str() string {
	n := g.number(8)
	if n > 1<<20 && g.err == nil {
		g.err = fmt.Errorf("a string has %d bytes, which is too long", n)
	}
	if g.err != nil {
		return ""
	}
	b := make([]byte, n)
	_, g.err = io.ReadFull(g.r, b)
	return string(b)
}

// value reads a value: a string, a number, or a list of them.
func (g *ggufReader) value(kind uint32, depth int) any {
	switch kind {
	case ggufString:
		return g.str()
	case ggufArray:
		of, n := uint32(g.number(4)), g.number(8)
		if depth > 2 && g.err == nil {
			g.err = fmt.Errorf("lists nested deeper than 2")
		}
		if n > model.MaxRules && g.err == nil {
			g.err = fmt.Errorf("a list has %d values; at most %d are allowed", n, model.MaxRules)
		}
		var list []any
		for range n {
			if g.err != nil {
				break
			}
			list = append(list, g.value(of, depth+1))
		}
		return list
	}
	size, ok := ggufSizes[kind]
	if !ok {
		if g.err == nil {
			g.err = fmt.Errorf("unknown value type %d", kind)
		}
		return nil
	}
	v := g.number(size)
	if kind == 6 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return float64(int64(v))
}

// readGGUF reads all keys of a header.
func readGGUF(r io.Reader) (map[string]any, error) {
	g := &ggufReader{r: bufio.NewReaderSize(r, 1<<16)}
	magic, version := uint32(g.number(4)), g.number(4)
	g.number(8) // number of tensors
	n := g.number(8)
	if g.err == nil && (magic != 0x46554747 || version < 2 || version > 3) {
		g.err = fmt.Errorf("magic %08x, version %d: must be GGUF version 2 or 3", magic, version)
	}
	m := map[string]any{}
	for range n {
		if g.err != nil {
			break
		}
		key := g.str()
		m[key] = g.value(uint32(g.number(4)), 0)
	}
	return m, g.err
}

// loadGGUF loads the vocabulary of a GGUF file.
func loadGGUF(f *folder, name string) (*Tokenizer, error) {
	if info, err := os.Stat(f.files[name]); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file (%v); copy its content to a file and give that", f.files[name], info.Mode().Type())
	}
	file, err := os.Open(f.files[name])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := readGGUF(file)
	if err != nil {
		return nil, fmt.Errorf("GGUF header: %w", err)
	}
	v := ggufVocab{keys: m}
	for _, x := range v.list("tokens") {
		s, _ := x.(string)
		v.tokens = append(v.tokens, s)
	}
	if len(v.tokens) == 0 {
		return nil, fmt.Errorf("GGUF header: tokenizer.ggml.tokens is missing")
	}
	for x, key := range map[*text]string{&f.conf.BOS: "bos_token_id", &f.conf.EOS: "eos_token_id", &f.conf.UNK: "unknown_token_id"} {
		if id, ok := v.number(key); ok && id >= 0 && int(id) < len(v.tokens) && *x == "" {
			*x = text(v.tokens[int(id)])
		}
	}
	if s, ok := m["tokenizer.chat_template"].(string); ok && len(f.conf.ChatTemplate) == 0 {
		f.conf.ChatTemplate = jsontext.AppendString(nil, s)
	}
	switch model, _ := m["tokenizer.ggml.model"].(string); model {
	case "gpt2":
		return v.byteLevel(f)
	case "llama":
		return v.sentencePiece(f)
	default:
		return nil, fmt.Errorf("GGUF header: tokenizer.ggml.model %q is not supported (gpt2 and llama are); use the model's tokenizer.json", model)
	}
}

// ggufVocab is the vocabulary in a header.
type ggufVocab struct {
	keys   map[string]any
	tokens []string
}

func (v ggufVocab) list(key string) []any {
	l, _ := v.keys["tokenizer.ggml."+key].([]any)
	return l
}

func (v ggufVocab) number(key string) (float64, bool) {
	n, ok := v.keys["tokenizer.ggml."+key].(float64)
	return n, ok
}

// kind returns the kind of token i; normal if the file does not state it.
func (v ggufVocab) kind(i int) spm.Kind {
	if l := v.list("token_type"); i < len(l) {
		if n, ok := l[i].(float64); ok {
			return spm.Kind(n)
		}
	}
	return spm.Normal
}

// byteLevel loads a vocabulary in the byte alphabet with merges.
func (v ggufVocab) byteLevel(f *folder) (*Tokenizer, error) {
	pre, _ := v.keys["tokenizer.ggml.pre"].(string)
	pattern, ok := ggufPatterns[pre]
	if !ok {
		return nil, fmt.Errorf("GGUF header: tokenizer.ggml.pre %q is not supported; use the model's tokenizer.json", pre)
	}
	vocab := map[string]int{}
	var tokens []any
	for i, t := range v.tokens {
		if k := v.kind(i); k == spm.Control || k == spm.UserDefined {
			tokens = append(tokens, map[string]any{"id": i, "content": t, "special": k == spm.Control, "normalized": false})
			continue
		}
		vocab[t] = i
	}
	d := document{
		"added_tokens": tokens,
		"model":        typedPart("BPE", "vocab", vocab, "merges", v.list("merges"), "ignore_merges", pre == "llama-bpe" || pre == "tekken"),
		"pre_tokenizer": typedPart("Sequence", "pretokenizers", []any{
			typedPart("Split", "pattern", map[string]any{"Regex": pattern}, "behavior", "Isolated"),
			typedPart("ByteLevel", "add_prefix_space", false, "use_regex", false),
		}),
		"decoder": typedPart("ByteLevel"),
	}
	if pre == "qwen2" {
		d["normalizer"] = typedPart("NFC")
	}
	return f.fromDocument(d)
}

// sentencePiece loads a vocabulary with scores.
func (v ggufVocab) sentencePiece(f *folder) (*Tokenizer, error) {
	m := spm.New()
	scores := v.list("scores")
	for i, t := range v.tokens {
		p := spm.Piece{Text: t, Kind: v.kind(i)}
		if i < len(scores) {
			s, _ := scores[i].(float64)
			p.Score = float32(s)
		}
		m.Pieces = append(m.Pieces, p)
	}
	if n, ok := v.number("add_space_prefix"); ok {
		m.DummyPrefix(n != 0)
	}
	return f.fromSentencePiece(m)
}
