package synth

// The tokens of a prompt can be counted without tokenizing most of its text again. The built-in tokenizer (o200k_base) first splits a text into pieces
// by a regular expression, then merges within pieces. No alternative of the expression continues a piece across a space that a letter follows. A piece
// therefore always starts at such a space, whatever the text before and after it. Between two such positions, a tokenized text keeps its tokens. Only
// the ends of a cut and the seams between cuts must be counted again.

// count returns the number of tokens in the text of a prompt.
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

// countBetween counts the tokens of the text of ids. Each range from one seam to the next was cut from one text. The first seam is 0.
func (s *Sequence) countBetween(ids []int32, seams []int) (total int) {
	rest := 0 // start of the part that is not counted yet
	for i, from := range seams {
		to := len(ids)
		if i+1 < len(seams) {
			to = seams[i+1]
		}
		first := from
		for first < to && !s.opens(ids[first:first+1]) {
			first++
		}
		if first == to {
			continue
		}
		last := to - 1
		for !s.opens(ids[last : last+1]) {
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

// opens reports whether a piece starts with this token, the only one of a list: its text is a space, a letter and any rest.
func (s *Sequence) opens(token []int32) bool {
	text := s.tok.Decode(token)
	return len(text) > 1 && text[0] == ' ' && (text[1] >= 'a' && text[1] <= 'z' || text[1] >= 'A' && text[1] <= 'Z')
}

// appendSeams appends the positions in a list of all ids where a new chunk begins. The last n ids were cut from the corpus at start.
func (c *Corpus) appendSeams(seams []int, start, n, all int) []int {
	i, at := c.chunkAt(start), all-n
	for at += c.offsets[i+1] - start; at < all; at += c.offsets[i+1] - c.offsets[i] {
		seams = append(seams, at)
		if i++; i == len(c.offsets)-1 {
			i = 0
		}
	}
	return seams
}
