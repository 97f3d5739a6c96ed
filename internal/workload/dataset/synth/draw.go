package synth

import (
	"math"

	"aiperf/internal/base/rng"
)

// draw draws all conversations below until that were not drawn yet. The caller holds mu or is the only user.
func (s *Dataset) draw(until int) {
	for ; s.drawn < until; s.drawn++ {
		if s.rankings != nil {
			s.turns.Add(s.drawRanking())
		} else {
			for k := range drawTurns(s.opts, s.counts) {
				s.turns.Add(s.drawTurn(k == 0))
			}
		}
		if s.each == 0 {
			s.starts.Add(int32(s.turns.Len()))
		}
	}
}

// drawTurn draws one turn in this order: lengths and prefixes of its texts, media, delay, model, output length.
func (s *Dataset) drawTurn(first bool) turn {
	isl, maxTokens, batch := max(0, s.opts.ISL.Mean-s.opts.Special), -1, s.opts.Batch
	if !s.opts.hasText() {
		batch = 0
	}
	if s.pairs != nil {
		isl, maxTokens = s.pairs.draw()
	}
	pooled := first && s.opts.hasPool()
	marked := -1 // text that gets a marker when it is sent
	if first && s.opts.FirstTurnCost > 0 {
		if marked = 0; s.opts.CostLast {
			marked = batch - 1
		}
	}

	t := turn{texts: int32(batch)}
	for k := range batch {
		cost := 0
		if k == marked {
			cost = s.opts.FirstTurnCost
		}
		n := s.lower(isl-cost, first, pooled)
		if s.pairs == nil {
			n = s.opts.ISL.DrawLess(s.lengths, s.opts.ISL.Mean-n)
		}
		prefix := NoPrefix
		if pooled {
			prefix = s.prefix.Below(s.opts.Context.PrefixPool)
		}
		if id := s.texts.Add(n, prefix); k == 0 {
			t.first = int32(id)
		}
	}
	s.items = s.opts.Media.Draw(s.items)
	if d := s.opts.Delay; !first && d != nil {
		ms := d.Draw(s.delays)
		s.waits.Set(s.turns.Len(), float64(ms)*s.opts.DelayRatio, math.NaN())
	}
	t.model = int32(s.assign.Model())
	if maxTokens < 0 {
		maxTokens = s.assign.MaxTokens()
	}
	t.maxTokens = int32(maxTokens)
	return t
}

// lower subtracts the cost of a chat template from an input length. At least one token is left, or none after a prefix.
func (s *Dataset) lower(isl int, first, pooled bool) int {
	isl -= s.opts.Template.Message
	if first {
		isl -= s.opts.Template.Request
	}
	if pooled {
		return max(0, isl)
	}
	return max(1, isl)
}

// rankingLengths draws the lengths of ranking requests.
type rankingLengths struct {
	Rankings
	passages *rng.Stream
}

func newRankingLengths(r Rankings, root *rng.Root) *rankingLengths {
	return &rankingLengths{Rankings: r, passages: root.Stream("dataset.rankings.passages")}
}

// drawRanking draws one ranking request: number of passages, length of the query, length of every passage. All lengths come from the stream of prompt
// lengths, like in the Python tool.
func (s *Dataset) drawRanking() turn {
	r := s.rankings
	passages := r.Passages.Draw(r.passages)
	t := turn{texts: int32(1 + passages)}
	t.first = int32(s.texts.Add(r.QueryTokens.Draw(s.lengths), NoPrefix))
	for range passages {
		s.texts.Add(r.PassageTokens.Draw(s.lengths), -1)
	}
	t.model = int32(s.assign.Model())
	t.maxTokens = int32(s.assign.MaxTokens())
	return t
}
