package synth

import (
	"strconv"
	"strings"

	"aiperf/internal/rng"
)

const (
	repairRounds = 10 // rounds of cutting and topping up, as the Python tool makes them
	repairStarts = 20 // further places in the corpus, where that tool gives up
	repairWords  = 64 // words added or taken off one by one, the last resort
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
	return s.byWords(text, want)
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

// byWords takes words off the end until the text is not too long and adds short ones until it is long enough.
func (s *Sequence) byWords(text string, want int) (string, bool) {
	best := text
	for range repairWords {
		n := s.tok.Count(text)
		switch {
		case n == want:
			return text, true
		case n < want:
			text += " a"
		default:
			cut := strings.LastIndexByte(strings.TrimRight(text, " "), ' ')
			if cut <= 0 {
				return best, false
			}
			text = text[:cut]
		}
	}
	return best, false
}
