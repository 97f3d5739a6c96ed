package tokenizer

import (
	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/pipeline"
	"aiperf/internal/text/tokenizer/pretoken"
)

// ranks holds the settings for a rank list.
type ranks struct {
	scan    pretoken.Scanner
	shift   int32 // id = rank + shift
	vocab   int   // highest id plus one; 0 = count
	bos     string
	eos     string
	special []addedtokens.Token
	literal bool // treat special tokens inside a text as plain text
}

// newRankTokenizer returns a tokenizer for a rank list.
func newRankTokenizer(name string, list *model.Vocab, r ranks) (*Tokenizer, error) {
	list.Index()
	m, err := model.NewRanks(list, r.shift)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{name: name, meta: meta{vocabSize: r.vocab, bos: model.None, eos: model.None, special: map[int32]bool{}}}
	highest := list.MaxID() + r.shift
	texts := make(map[int32]string, len(r.special))
	for _, s := range r.special {
		texts[s.ID] = s.Content
		highest = max(highest, s.ID)
		t.meta.special[s.ID] = s.Special
		if s.Content == r.eos {
			t.meta.eos = s.ID
		}
		if s.Content == r.bos {
			t.meta.bos = s.ID
		}
	}
	if t.meta.vocabSize == 0 {
		t.meta.vocabSize = int(highest) + 1
	}
	t.pipe = &pipeline.Pipeline{
		Stages:  []pretoken.Stage{r.scan.Isolated()},
		Model:   m,
		Decoder: pipeline.BytesDecoder{Vocab: list, Shift: r.shift, Added: texts},
	}
	if !r.literal {
		t.pipe.Raw = addedtokens.NewMatcher(r.special)
	}
	return t, nil
}
