package synth

// Most of a prompt need not be tokenized again to know how many tokens its text counts. The built-in tokenizer (o200k_base) cuts a text into
// pieces by a regular expression before it merges, and none of its alternatives lets a piece go on over a blank that a letter follows: there a
// piece begins, whatever stands before it and behind it. Between two such places within a text that was tokenized the tokens are the same
// ones; what has to be counted again are the ends of a cut and the seams between cuts.

// count is the number of tokens that the text of a prompt counts.
func (s *Sequence) count(p prompt) int {
	ids := s.ids(nil, p)
	if s.corpus == nil || !s.corpus.blanks {
		return s.tok.Count(s.tok.Decode(ids))
	}
	seams := []int{0}
	if p.prefix >= 0 {
		seams = append(seams, len(s.prefixes[p.prefix]))
	}
	seams = s.corpus.appendSeams(seams, int(p.start), int(p.tokens), len(ids))
	return s.countBetween(ids, seams)
}

// countBetween counts ids of which each stretch from one seam to the next is cut out of one text. The first seam is 0.
func (s *Sequence) countBetween(ids []int32, seams []int) (total int) {
	rest := 0 // what is not counted begins here
	for i, from := range seams {
		to := len(ids)
		if i+1 < len(seams) {
			to = seams[i+1]
		}
		first := from
		for first < to && !s.opens(ids[first]) {
			first++
		}
		if first == to {
			continue
		}
		last := to - 1
		for !s.opens(ids[last]) {
			last--
		}
		total += s.countText(ids[rest:first]) + last - first
		rest = last
	}
	return total + s.countText(ids[rest:])
}

func (s *Sequence) countText(ids []int32) int {
	if len(ids) == 0 {
		return 0
	}
	return s.tok.Count(s.tok.Decode(ids))
}

// opens tells whether a piece begins with a token: its text is a blank and a letter, and what follows.
func (s *Sequence) opens(id int32) bool {
	text := s.tok.Decode([]int32{id})
	return len(text) > 1 && text[0] == ' ' && (text[1] >= 'a' && text[1] <= 'z' || text[1] >= 'A' && text[1] <= 'Z')
}

// appendSeams appends where in some ids, whose last n are the corpus' from start on, another chunk begins.
func (c *Corpus) appendSeams(seams []int, start, n, all int) []int {
	i, at := c.chunkAt(start), all-n
	for at += c.offsets[i+1] - start; at < all; at += c.offsets[i+1] - c.offsets[i] {
		seams = append(seams, at)
		if i++; i == len(c.chunks) {
			i = 0
		}
	}
	return seams
}
