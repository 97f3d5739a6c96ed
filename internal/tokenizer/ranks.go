package tokenizer

import (
	"aiperf/internal/tokenizer/added"
	"aiperf/internal/tokenizer/model"
	"aiperf/internal/tokenizer/pipeline"
	"aiperf/internal/tokenizer/pretoken"
)

// ranks says what a rank list is used with.
type ranks struct {
	scan    pretoken.Scanner
	shift   int32 // id = rank + shift
	vocab   int   // one above the highest id; 0 = count
	bos     string
	eos     string
	special []added.Token
	literal bool // texts of special tokens inside a text are plain text
}

// newRankTokenizer builds a tokenizer over a rank list.
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
		t.pipe.Raw = added.NewMatcher(r.special)
	}
	return t, nil
}
