package metric

import "aiperf/internal/record"

// drafts makes a per-request value of one count of a server that guesses tokens ahead; absent where it told nothing.
func drafts(field func(*record.Drafts) int64) func(*facts) float64 {
	return func(f *facts) float64 {
		if f.reply == nil || f.reply.Drafts == nil {
			return absent()
		}
		return float64(field(f.reply.Drafts))
	}
}

func (f *facts) draftCounts() (steps, accepted, proposed float64) {
	if f.reply == nil || f.reply.Drafts == nil {
		return absent(), absent(), absent()
	}
	d := f.reply.Drafts
	return float64(d.Steps), float64(d.Accepted), float64(d.Proposed)
}

// draftLength is how many tokens a step of verification gives, the one that is always right included.
func (f *facts) draftLength() float64 {
	steps, accepted, _ := f.draftCounts()
	return 1 + accepted/positive(steps)
}

// draftRate is the share of the guessed tokens that were right, in percent.
func (f *facts) draftRate() float64 {
	_, accepted, proposed := f.draftCounts()
	return accepted / positive(proposed) * 100
}

// draftVerified is the share of the verified tokens that were of use.
func (f *facts) draftVerified() float64 {
	steps, accepted, proposed := f.draftCounts()
	return (accepted + steps) / positive(proposed+steps)
}

// draftLength is the same over all requests, each with the weight of its steps.
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
