package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/text/tokenizer"
)

// tokenizerData is the folder with the vocabularies and texts of the tokenizer's own tests. The command runs in the root of the module.
const tokenizerData = "internal/text/tokenizer/testdata"

// vocabularies are the tokenizers of the figures, in addition to those of -tokenizer-file: a name and a packed tokenizer.json.
var vocabularies = []struct{ name, file string }{
	{"o200k_base (builtin)", ""}, {"Qwen2.5", "qwen2_5"}, {"GPT-2", "gpt2"}, {"BERT, WordPiece", "bert"}, {"XLM-R shape, Unigram", "unigram"},
}

// vocabulary is one tokenizer and the function that opens it again.
type vocabulary struct {
	name string
	open func() (*tokenizer.Tokenizer, error)
}

// vocabularies returns all of them.
func (b *suite) vocabularies() (list []vocabulary, err error) {
	for _, v := range vocabularies {
		spec := "o200k_base" // the same as builtin, but loaded again
		if v.file != "" {
			if spec, err = b.unpack(v.file); err != nil {
				return nil, err
			}
		}
		list = append(list, vocabulary{v.name, opener(spec)})
	}
	for spec := range strings.SplitSeq(b.tokenizerFiles, ",") {
		if spec != "" {
			list = append(list, vocabulary{shortName(spec), opener(spec)})
		}
	}
	return list, nil
}

func opener(spec string) func() (*tokenizer.Tokenizer, error) {
	return func() (*tokenizer.Tokenizer, error) {
		return tokenizer.Open(context.Background(), spec, tokenizer.Options{})
	}
}

// shortName returns the part of a path that distinguishes it: the folder's name if many folders have a file of the same name.
func shortName(path string) string {
	dir, name := filepath.Split(filepath.Clean(path))
	for _, common := range []string{"tokenizer.json", "models"} {
		if name == common {
			dir, name = filepath.Split(filepath.Clean(dir))
		}
	}
	return name
}

// unpack writes a packed tokenizer.json to the scratch folder.
func (b *suite) unpack(name string) (string, error) {
	packed, err := os.ReadFile(filepath.Join(tokenizerData, name+".json.zst"))
	if err != nil {
		return "", err
	}
	d, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	defer d.Close()
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tokenizer.json")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = d.WriteTo(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return path, err
}

// corpus is the text to encode: English prose in pieces of about 4 kB, and made-up words that no cache can contain.
type corpus struct {
	Prose []string
	Words []string
	Worst map[string]string
}

// worstUnits are repeated to build texts for which a naive implementation takes minutes.
var worstUnits = []struct{ name, unit string }{
	{"letter a", "a"}, {"spaces", " "}, {"digits", "1"}, {"newlines", "\n"}, {"emoji", "👍"},
}

func newCorpus() (*corpus, error) {
	text, err := os.ReadFile(filepath.Join(tokenizerData, "prose.txt"))
	if err != nil {
		return nil, err
	}
	c := &corpus{}
	for rest := string(text); rest != ""; {
		n := len(rest)
		if n > 4096 {
			n = 4096
			if i := strings.LastIndexByte(rest[:n], ' '); i > 0 {
				n = i
			}
		}
		c.Prose, rest = append(c.Prose, rest[:n]), rest[n:]
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		var b strings.Builder
		for b.Len() < 4096 {
			for range 4 + r.IntN(9) {
				b.WriteByte("etaoinshrdlucmfwypvbgkjqxz"[min(r.IntN(26), r.IntN(26))])
			}
			b.WriteByte(' ')
		}
		c.Words = append(c.Words, b.String())
	}
	return c, nil
}

func tokenizerFigure(b *suite) error {
	c, err := newCorpus()
	if err != nil {
		return err
	}
	list, err := b.vocabularies()
	if err != nil {
		return err
	}
	rounds := 7
	if b.short {
		rounds = 2
	}
	theirs, err := b.tiktoken(c, rounds)
	if err != nil {
		return err
	}
	b.row("one core, M tokens/s", "load", "encode, first pass", "again", "made-up words", "decode", "encode, MB/s", "aim")
	for _, v := range list {
		s, err := measureTokens(v, c, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		b.row(append([]any{v.name}, s.cells("≥ 4")...)...)
		if v.name == vocabularies[0].name && theirs != nil {
			b.row(append([]any{"tiktoken, o200k_base"}, theirs.cells("")...)...)
			b.row(append([]any{"ratio, ours to tiktoken"}, s.ratios(theirs)...)...)
		}
	}
	if theirs == nil {
		b.row("tiktoken: no Python has it; choose one with -python")
	}
	b.flush()
	b.section("Tokenizer, worst cases: ns per byte for texts of 64 kB, 256 kB, 1 MB")
	head := []any{"tokenizer"}
	for _, u := range worstUnits {
		head = append(head, u.name)
	}
	b.row(head...)
	for _, v := range list {
		t, err := v.open()
		if err != nil {
			return err
		}
		row := []any{v.name}
		for _, u := range worstUnits {
			row = append(row, worstCell(t, u.unit))
		}
		b.row(row...)
	}
	return nil
}

// worstCell returns the cost per byte for three lengths of the same text.
func worstCell(t *tokenizer.Tokenizer, unit string) string {
	var cells []string
	for _, size := range []int{64 << 10, 256 << 10, 1 << 20} {
		text, least := strings.Repeat(unit, size/len(unit)), math.Inf(1)
		for range 2 {
			began := time.Now()
			t.Count(text)
			least = min(least, float64(time.Since(began).Nanoseconds()))
		}
		cells = append(cells, fmt.Sprintf("%.0f", least/float64(len(text))))
	}
	return strings.Join(cells, " ")
}
