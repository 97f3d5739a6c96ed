package synth

import "unicode/utf8"

const (
	repairRounds = 10  // rounds of cutting and topping up, like in the Python tool
	repairStarts = 20  // further positions in the corpus; the Python tool gives up instead
	padRounds    = 256 // characters and words removed or added one by one, as the last resort
)

// repair generates the text of prompt number i with exactly its tokens. exact reports whether that worked.
func (s *Sequence) repair(p prompt, i int) (text string, exact bool) {
	return s.exact(s.ids(nil, p), s.length(p), i, func(own promptSource) []int32 {
		p.start = int32(own.start())
		return s.ids(nil, p)
	})
}

// exact generates a text of exactly want tokens from ids, and reports whether that worked. again returns other ids. Draws that the Python tool makes
// too come from the shared stream, so that later prompts are the same. Further draws come from a separate stream for prompt i.
func (s *Sequence) exact(ids []int32, want, i int, again func(own promptSource) []int32) (text string, exact bool) {
	text, exact = s.rounds(ids, want, s.from)
	if exact {
		return text, true
	}
	own := s.from.forPrompt(i)
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

// rounds decodes and tokenizes repeatedly. It cuts texts that are too long and tops up texts that are too short.
func (s *Sequence) rounds(ids []int32, want int, from promptSource) (string, bool) {
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

// pads are the texts that pad tries in turn. It takes the first one that adds a token without exceeding the goal.
var pads = []string{" the", " a", ".", "a", " ", "\n", "0", "。"}

// pad removes single characters from the end of a text, or adds pads, until it has the wanted number of tokens.
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
