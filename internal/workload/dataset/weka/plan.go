package weka

import "slices"

// edits plans the messages of the requests of a stream. Each request has exactly the recorded number of tokens, and equal ids give equal text. Of the
// new part of a request, the first blocks are the model's previous answer and the rest is the user's. The last message is the user's whenever a
// request adds something. Tokens without ids become the tail.
func edits(s *stream, block int) []edit {
	most := assistantLimits(s.requests, block)
	out := make([]edit, len(s.requests))
	b := &buffer{}
	for k, q := range s.requests {
		e := &out[k]
		covered, keep, tail := geometry(s.requests, k, b.blocks(), block)
		e.keptBlocks, e.tail = keep, tail
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

// geometry returns three numbers for a request: its whole blocks with ids, how many of these the previous request had too, and the tokens after its
// blocks. had is the number of whole blocks in the previous request.
func geometry(list []*Request, k, had, block int) (covered, keep, tail int) {
	q := list[k]
	covered = min(len(q.ids), q.in/block)
	if k > 0 {
		keep = min(commonBlocks(list[k-1].ids, q.ids), had)
	}
	return covered, min(keep, covered), q.in - covered*block
}

// answered returns the number of new blocks in the answer of the model.
func answered(b *buffer, out int, e *edit, block int, most int) int {
	kept := b.messagesWithin(e.keptBlocks)
	if !slices.ContainsFunc(b.list[:kept], func(m message) bool { return m.role == user }) { // an assistant does not speak before a user
		return 0
	}
	n := min((out+block-1)/block, len(e.ids))
	if most >= 0 {
		n = min(n, most)
	}
	if n > 0 && n == len(e.ids) && e.tail == 0 {
		n-- // the last message is the user's
	}
	return n
}

// assistantLimits returns the maximum number of blocks in each answer, -1 = no limit. If a later request adds nothing and ends at a block of this
// request, that block must be the user's.
func assistantLimits(list []*Request, block int) []int {
	most := make([]int, len(list))
	kept := make([]int, len(list))
	var owner []int // for each block so far: the request that added it
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
