package metric

import (
	"math"

	"aiperf/internal/measure/record"
)

// usage returns a per-request value of one field of the server's usage object. A missing field is absent, 0 is a value.
func usage(field func(*record.Usage) int64) func(*requestFacts) float64 {
	return func(f *requestFacts) float64 {
		if f.reply == nil || f.reply.Usage == nil {
			return absent()
		}
		return known(int(field(f.reply.Usage)))
	}
}

func (f *requestFacts) usagePrompt() float64 {
	return usage(func(u *record.Usage) int64 { return u.Prompt })(f)
}
func (f *requestFacts) usageCompletion() float64 {
	return usage(func(u *record.Usage) int64 { return u.Completion })(f)
}
func (f *requestFacts) usageReasoning() float64 {
	return usage(func(u *record.Usage) int64 { return u.Reasoning })(f)
}

func (f *requestFacts) usageAudioSeconds() float64 {
	if f.reply == nil || f.reply.Usage == nil || f.reply.Usage.PromptAudioSeconds < 0 {
		return absent()
	}
	return f.reply.Usage.PromptAudioSeconds
}

// diff returns the difference of the server's count from ours, in percent of ours.
func diff(server, client func(*requestFacts) float64) func(*requestFacts) float64 {
	return func(f *requestFacts) float64 {
		ours := positive(client(f))
		return math.Abs(server(f)-ours) / ours * 100
	}
}
