package metric

import (
	"math"

	"aiperf/internal/record"
)

// usage makes a per-request value of one field of the server's usage object; missing is absent, 0 is a value.
func usage(field func(*record.Usage) int64) func(*facts) float64 {
	return func(f *facts) float64 {
		if f.reply == nil || f.reply.Usage == nil {
			return absent()
		}
		return known(int(field(f.reply.Usage)))
	}
}

func (f *facts) usagePrompt() float64 {
	return usage(func(u *record.Usage) int64 { return u.Prompt })(f)
}
func (f *facts) usageCompletion() float64 {
	return usage(func(u *record.Usage) int64 { return u.Completion })(f)
}
func (f *facts) usageReasoning() float64 {
	return usage(func(u *record.Usage) int64 { return u.Reasoning })(f)
}

func (f *facts) usageAudioSeconds() float64 {
	if f.reply == nil || f.reply.Usage == nil || f.reply.Usage.PromptAudioSeconds < 0 {
		return absent()
	}
	return f.reply.Usage.PromptAudioSeconds
}

// diff is how far the server's count is from ours, in percent of ours.
func diff(server, client func(*facts) float64) func(*facts) float64 {
	return func(f *facts) float64 {
		ours := positive(client(f))
		return math.Abs(server(f)-ours) / ours * 100
	}
}
