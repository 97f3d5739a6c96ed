package pipeline

import (
	"strings"

	"aiperf/internal/measure/record"
)

// counts returns the token counts of one request (measurement, section 4).
func (p *Pipeline) counts(rec *record.Record, reply *record.Reply) record.Counts {
	o := p.opts.Metrics.Options()
	c := record.Counts{Input: -1, Output: -1, Reasoning: -1}
	if reply == nil {
		return c
	}
	if o.ServerTokens {
		c = serverCounts(reply.Usage)
	} else {
		if o.TokenizesInput {
			c.Input = p.inputTokens(rec, reply, &c)
		}
		if o.ProducesTokens {
			c.Output, c.Reasoning = p.tokens(rec.Model, reply.Output, &c), p.tokens(rec.Model, reply.Reasoning, &c)
			if n := reply.OutputTokens; n > 0 {
				c.Output = max(c.Output, 0) + n
			}
			if c.Missing != "" { // the count of a part of the answer would be wrong
				c.Output, c.Reasoning = -1, -1
			}
		}
	}
	if !o.TokenizesInput {
		c.Input = -1
	}
	if !o.ProducesTokens {
		c.Output, c.Reasoning = -1, -1
	}
	return c
}

// tokens counts a joined text with one call of the tokenizer. An empty text is unknown, not 0. If a text is not counted, the reason goes into c.
func (p *Pipeline) tokens(model, text string, c *record.Counts) int {
	if text == "" {
		return -1
	}
	n, err := p.opts.Count(model, text)
	if err != nil {
		c.Missing = err.Error()
		return -1
	}
	return n
}

// inputTokens counts the texts of the payload, joined by blanks, plus the token ids in the payload.
func (p *Pipeline) inputTokens(rec *record.Record, reply *record.Reply, c *record.Counts) int {
	if p.opts.Input != nil {
		if n := p.opts.Input(rec, reply); n >= 0 {
			return n
		}
	}
	if len(reply.InputTexts) == 0 {
		if reply.InputTokens > 0 {
			return reply.InputTokens
		}
		return -1
	}
	if known := &rec.Counted; p.opts.OneTokenizer && known.Tokens > 0 && len(reply.InputTexts) == 1 && reply.InputTexts[0] == known.Text {
		return known.Tokens + reply.InputTokens
	}
	n, err := p.inputs.count(rec.Model, strings.Join(reply.InputTexts, " "), p.opts.Count)
	if err != nil {
		c.Missing = err.Error()
		return -1
	}
	return n + reply.InputTokens
}

// serverCounts returns the counts of the server's last usage object.
func serverCounts(u *record.Usage) record.Counts {
	c := record.Counts{Input: -1, Output: -1, Reasoning: -1}
	if u == nil {
		return c
	}
	c.Input, c.Reasoning = int(u.Prompt), int(u.Reasoning)
	if u.Completion >= 0 {
		c.Output = int(max(0, u.Completion-max(0, u.Reasoning)))
	}
	return c
}
