package synth

import (
	"strconv"
	"unicode/utf8"

	"aiperf/internal/rng"
)

const (
	repairRounds = 10  // rounds of cutting and topping up, as the Python tool makes them
	repairStarts = 20  // further places in the corpus, where that tool gives up
	padRounds    = 256 // characters and words taken off or added one by one, the last resort
)

// repair makes the text of prompt number i count exactly its tokens and tells whether that worked. Its draws come from the shared stream
// as far as the Python tool draws, so that the prompts after it are the same; what goes beyond comes from a stream of the prompt's own.
func (s *Sequence) repair(p prompt, i int) (text string, exact bool) {
	want := s.length(p)
	text, exact = s.rounds(s.ids(nil, p), want, s.stream)
	if exact {
		return text, true
	}
	own := rng.NewStream(rng.ChildSeed(s.retries, strconv.Itoa(i)))
	for range repairStarts {
		p.start = int32(own.Below(s.corpus.Size()))
		if other, ok := s.rounds(s.ids(nil, p), want, own); ok {
			return other, true
		}
	}
	if other, ok := s.pad(text, want); ok {
		return other, true
	}
	return text, false
}

// rounds decodes and encodes again: what is too long is cut, what is too short is topped up from the corpus.
func (s *Sequence) rounds(ids []int32, want int, stream *rng.Stream) (string, bool) {
	for range repairRounds {
		text := s.tok.Decode(ids)
		ids = s.tok.Append(ids[:0], text)
		switch missing := want - len(ids); {
		case missing == 0:
			return text, true
		case missing < 0:
			ids = ids[:want]
		default:
			ids = s.corpus.Append(ids, stream.Below(s.corpus.Size()), missing)
		}
	}
	text := s.tok.Decode(ids)
	return text, s.tok.Count(text) == want
}

// pads are what pad tries to add, in turn: the first that adds a token without going past the goal is taken.
var pads = []string{" the", " a", ".", "a", " ", "\n", "0", "。"}

// pad takes single characters off the end of a text and adds pads until it counts the wanted number of tokens.
func (s *Sequence) pad(text string, want int) (string, bool) {
	count := s.tok.Count(text)
	for i := 0; i < padRounds && count != want; i++ {
		before := count
		if count > want {
			_, width := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-width]
			count = s.tok.Count(text)
			continue
		}
		for k := range pads {
			longer := text + pads[(i+k)%len(pads)]
			if n := s.tok.Count(longer); n > count && n <= want {
				text, count = longer, n
				break
			}
		}
		if count == before {
			break
		}
	}
	return text, count == want
}
