package metric

import "aiperf/internal/measure/record"

// drafts returns a per-request value of one count of a server with speculative decoding; absent if the server reports none.
func drafts(field func(*record.Drafts) int64) func(*requestFacts) float64 {
	return func(f *requestFacts) float64 {
		if f.reply == nil || f.reply.Drafts == nil {
			return absent()
		}
		return float64(field(f.reply.Drafts))
	}
}

func (f *requestFacts) draftCounts() (steps, accepted, proposed float64) {
	if f.reply == nil || f.reply.Drafts == nil {
		return absent(), absent(), absent()
	}
	d := f.reply.Drafts
	return float64(d.Steps), float64(d.Accepted), float64(d.Proposed)
}

// draftLength returns the mean number of tokens per verification step, including the one that is always right.
func (f *requestFacts) draftLength() float64 {
	steps, accepted, _ := f.draftCounts()
	return 1 + accepted/positive(steps)
}

// draftRate returns the share of the proposed tokens that were accepted, in percent.
func (f *requestFacts) draftRate() float64 {
	_, accepted, proposed := f.draftCounts()
	return accepted / positive(proposed) * 100
}

// draftVerified returns the share of the verified tokens that were used.
func (f *requestFacts) draftVerified() float64 {
	steps, accepted, proposed := f.draftCounts()
	return (accepted + steps) / positive(proposed+steps)
}

// draftLength returns the same over all requests, weighted by their steps.
func (t *totals) draftLength() float64 {
	return 1 + t.get("total_accepted_draft_tokens")/positive(t.get("total_spec_decode_steps"))
}

// pooled adds buckets to a sum of buckets.
func pooled(sum, buckets []int64) []int64 {
	for i, n := range buckets {
		if i == len(sum) {
			sum = append(sum, 0)
		}
		sum[i] += n
	}
	return sum
}
