package chat

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/measure/record"
)

// AnswerFigures holds the figures of one answer. Zero means unknown.
type AnswerFigures struct {
	TTFT, Latency, ITL time.Duration
	Tokens, Reasoning  int // tokens of the answer including reasoning; reasoning tokens among them
	Prompt, Cached     int // as counted by the server; Cached is -1 if the server does not report its cache
}

// figures computes the figures of an answer.
func (t *Session) figures(rec *record.Record, reply *record.Reply) *AnswerFigures {
	counts := record.Counts{Input: -1, Output: t.count(reply.Output), Reasoning: t.count(reply.Reasoning)}
	f := &AnswerFigures{Cached: -1, Reasoning: max(0, counts.Reasoning)}
	if u := reply.Usage; u != nil {
		f.Prompt, f.Cached = max(0, int(u.Prompt)), int(u.CacheRead)
	}
	row := t.metrics.Row(rec, reply, counts)
	value := func(tag string) float64 {
		v, ok := row.Value(tag)
		if !ok {
			return 0
		}
		return v
	}
	f.TTFT, f.Latency, f.ITL = time.Duration(value("time_to_first_token")), time.Duration(value("request_latency")), time.Duration(value("inter_token_latency"))
	f.Tokens = int(value("output_sequence_length"))
	return f
}

func (t *Session) count(text string) int {
	if text == "" {
		return 0
	}
	return t.Count(text)
}

// String formats the figures in a few lines.
func (f *AnswerFigures) String() string {
	if f.TTFT == 0 || f.Tokens == 0 {
		return "(no tokens received)"
	}
	what := fmt.Sprintf("%d tokens", f.Tokens)
	if f.Reasoning > 0 {
		what += fmt.Sprintf(", %d reasoning", f.Reasoning)
	}
	lines := []string{
		fmt.Sprintf("TTFT: %.2f ms", ms(f.TTFT)),
		fmt.Sprintf("TPS:  %.2f tokens/s (%s in %.2fs)", float64(f.Tokens)/f.Latency.Seconds(), what, f.Latency.Seconds()),
	}
	if f.ITL > 0 {
		lines = append(lines, fmt.Sprintf("ITL:  %.2f ms/token (decode %.2f tokens/s)", ms(f.ITL), 1/f.ITL.Seconds()))
	}
	if f.Prompt > 0 && f.Cached >= 0 {
		lines = append(lines, fmt.Sprintf("Cache: %d/%d prompt tokens cached (%.1f%%)", f.Cached, f.Prompt, 100*float64(f.Cached)/float64(f.Prompt)))
	}
	return strings.Join(lines, "\n")
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
