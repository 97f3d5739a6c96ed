package synth

import "unicode/utf8"

const (
	repairRounds = 10  // rounds of cutting and topping up, as the Python tool makes them
	repairStarts = 20  // further places in the corpus, where that tool gives up
	padRounds    = 256 // characters and words taken off or added one by one, the last resort
)

// repair makes the text of prompt number i count exactly its tokens and tells whether that worked.
func (s *Sequence) repair(p prompt, i int) (text string, exact bool) {
	return s.exact(s.ids(nil, p), s.length(p), i, func(own material) []int32 {
		p.start = int32(own.start())
		return s.ids(nil, p)
	})
}

// exact makes a text of exactly want tokens from ids and tells whether that worked; again gives other ids. The draws come from the shared
// stream as far as the Python tool draws, so that the prompts after it are the same; what goes beyond comes from draws of prompt i's own.
func (s *Sequence) exact(ids []int32, want, i int, again func(own material) []int32) (text string, exact bool) {
	text, exact = s.rounds(ids, want, s.from)
	if exact {
		return text, true
	}
	own := s.from.apart(i)
	for range repairStarts {
		if other, ok := s.rounds(again(own), want, own); ok {
			return other, true
		}
	}
	if other, ok := s.pad(text, want); ok {
		return other, true
	}
	return text, false
}

// rounds decodes and encodes again: what is too long is cut, what is too short is topped up.
func (s *Sequence) rounds(ids []int32, want int, from material) (string, bool) {
	for range repairRounds {
		text := s.tok.Decode(ids)
		ids = s.tok.Append(ids[:0], text)
		switch missing := want - len(ids); {
		case missing == 0:
			return text, true
		case missing < 0:
			ids = ids[:want]
		default:
			ids = from.topUp(ids, missing)
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
