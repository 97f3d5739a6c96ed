package weka

import "slices"

// edits plans the messages of the requests of a stream. Each has exactly as many tokens as were recorded, and blocks of equal ids are equal
// text. Of what a request adds, the first blocks are the answer of the model before it, the rest is the user's; the last message is the user's
// wherever a request adds something. tail messages of no block are made of what the recording has no ids for.
func edits(s *stream, block int) []edit {
	most := assistantLimits(s.requests, block)
	out := make([]edit, len(s.requests))
	b := &buffer{}
	for k, q := range s.requests {
		e := &out[k]
		covered, keep, tail := geometry(s.requests, k, b.blocks(), block)
		e.keep, e.tail = keep, tail
		e.ids = slices.Clone(q.ids[keep:max(keep, covered)])
		if k == 0 {
			e.system = min((s.tool+s.system+block-1)/block, covered)
		} else {
			before := s.requests[k-1]
			e.assistant, e.tool = answered(b, before.out, e, block, most[k]), q.answersTool(before)
		}
		b.apply(e, k, "")
	}
	return out
}

// geometry is the number of whole blocks of a request that have ids, of those among them that the request before it had too, and of the tokens
// behind its blocks. had is the number of whole blocks of the request before.
func geometry(list []*Request, k, had, block int) (covered, keep, tail int) {
	q := list[k]
	covered = min(len(q.ids), q.in/block)
	if k > 0 {
		keep = min(shared(list[k-1].ids, q.ids), had)
	}
	return covered, min(keep, covered), q.in - covered*block
}

// answered is the number of new blocks that are the answer of the model.
func answered(b *buffer, out int, e *edit, block int, most int) int {
	kept := b.kept(e.keep)
	if !slices.ContainsFunc(b.list[:kept], func(m message) bool { return m.role == user }) { // an assistant does not speak before a user
		return 0
	}
	n := min((out+block-1)/block, len(e.ids))
	if most >= 0 {
		n = min(n, most)
	}
	if n > 0 && n == len(e.ids) && e.tail == 0 {
		n-- // the last word is the user's
	}
	return n
}

// assistantLimits bounds the blocks of answers, -1 = not: where a later request adds nothing and ends at a block of this one, that block must be
// the user's.
func assistantLimits(list []*Request, block int) []int {
	most := make([]int, len(list))
	kept := make([]int, len(list))
	var owner []int // of every block so far: the request that brought it
	for k := range list {
		most[k] = -1
		covered, keep, tail := geometry(list, k, len(owner), block)
		kept[k] = keep
		if k > 0 && covered == keep && tail == 0 && keep > 0 {
			if by := owner[keep-1]; by > 0 {
				if limit := keep - 1 - kept[by]; most[by] < 0 || limit < most[by] {
					most[by] = limit
				}
			}
		}
		owner = owner[:keep]
		for range covered - keep {
			owner = append(owner, k)
		}
	}
	return most
}
