package tokenizer

import (
	_ "embed"
	"sync"

	"aiperf/internal/tokenizer/added"
	"aiperf/internal/tokenizer/model"
	"aiperf/internal/tokenizer/pipeline"
	"aiperf/internal/tokenizer/pretoken"
	"aiperf/internal/tokenizer/rankfile"
	"aiperf/internal/tokenizer/scan"
)

// BuiltinName is the name of the tokenizer that needs no file and no network.
const BuiltinName = "builtin"

// packed is the published rank list of o200k_base in its packed form.
//
//go:embed o200k_base.bin
var packed []byte

// builtin is the tokenizer, made at its first use.
var builtin = sync.OnceValues(func() (*Tokenizer, error) {
	ranks, err := rankfile.Unpack(packed)
	if err != nil {
		return nil, err
	}
	return newRankTokenizer(BuiltinName, ranks, encodings["o200k_base"])
})

// Builtin returns o200k_base. It is loaded once.
func Builtin() (*Tokenizer, error) { return builtin() }

// encoding describes a published rank file.
type encoding struct {
	file    string // base name of the rank file
	sha256  string // of the rank file, hex
	pattern string
	vocab   int // one above the highest id
	eos     string
	special map[string]int32
}

// encodings are the published rank files by name.
var encodings = map[string]encoding{
	"o200k_base": {
		file: "o200k_base", sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
		pattern: scan.PatternO200K, vocab: 200019, eos: "<|endoftext|>",
		special: map[string]int32{"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
	},
}

// newRankTokenizer builds a tokenizer over a rank list.
func newRankTokenizer(name string, ranks *model.Vocab, e encoding) (*Tokenizer, error) {
	ranks.Index()
	m, err := model.NewRanks(ranks, 0)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{name: name, meta: meta{vocabSize: e.vocab, bos: -1, eos: -1, special: map[int32]bool{}}}
	var tokens []added.Token
	texts := map[int32]string{}
	for text, id := range e.special {
		tokens = append(tokens, added.Token{ID: id, Content: text, Special: true})
		texts[id] = text
		t.meta.special[id] = true
		if text == e.eos {
			t.meta.eos = id
		}
	}
	t.pipe = &pipeline.Pipeline{
		Raw:     added.NewMatcher(tokens),
		Stages:  []pretoken.Stage{pretoken.Isolated(scan.Known[e.pattern])},
		Model:   m,
		Decoder: pipeline.BytesDecoder{Vocab: ranks, Added: texts},
	}
	return t, nil
}
