// Package probe tells what a server does from the answer to one request that is sent before the load: in how many pieces text comes, where
// the server counts tokens and whether as we do, what it does with lengths that are asked for.
package probe

import (
	"slices"

	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/sse"
)

// Tokens is the length that the probe asks for.
const Tokens = 16

// Prompt is what it says: words, digits, signs and letters that tokenizers cut differently. Its answer is short, so that a model that goes on
// was made to.
const Prompt = "Which of these is a colour? Answer with that one word: Straßenbahn, naïve façade, snake_case_name(x) != 0x7f; 東京都, Привет, blue, 1234567890."

// Asked is what was asked for, and what is needed to judge the answer.
type Asked struct {
	Streaming    bool
	Model        string
	FixedLength  bool // ignore_eos and min_tokens were sent
	Bounded      bool // the run asks for lengths, and does not send them
	Refused      bool // they were, and the server refused the request for it
	ServerTokens bool // the server's counts are the run's
	PerChunk     bool // token counts of every event are asked for
	Templated    bool // the run counts inputs with the chat template
	Marked       bool // streams of the endpoint type end with data: [DONE]
	Complete     bool // the run wants streams to say that they are complete

	PromptTokens int                   // of the texts of the request; 0 = the client counts nothing
	WithTemplate int                   // of the same in the model's chat template; 0 = not known
	Count        func(text string) int // nil = the client counts nothing
	Tokenizer    string
	As           func(key string) string // spells a setting as the user writes it
}

// Read judges an answer. reply is what the endpoint type read in it.
func Read(a *Asked, messages []record.Message, reply *record.Reply) *metric.Probe {
	p := &metric.Probe{TokensAsked: Tokens, ContentEvents: len(reply.Contents), Usage: metric.UsageNone}
	look(p, messages, reply)
	p.Prompt = metric.ProbeTokens{Client: a.PromptTokens, Templated: a.WithTemplate}
	if u := reply.Usage; u != nil {
		p.Prompt.Server, p.Output.Server = max(0, int(u.Prompt)), max(0, int(u.Completion))
	}
	p.Output.Client = reply.OutputTokens
	if a.Count != nil && p.Output.Client == 0 {
		p.Output.Client = count(a.Count, reply.Output) + count(a.Count, reply.Reasoning)
	}
	seen := p.Output.Client // what shows: a model that must go on may do so with special tokens, which no event holds
	if seen == 0 {
		seen = p.Output.Server
	}
	if p.Streamed && p.ContentEvents > 0 {
		p.TokensPerEvent = float64(seen) / float64(p.ContentEvents)
	}
	p.Length = length(a, p, reply)
	p.Findings = findings(a, p)
	return p
}

func count(tokens func(string) int, text string) int {
	if text == "" {
		return 0
	}
	return tokens(text)
}

// produced is the length of the answer, by the server's count if there is one.
func produced(p *metric.Probe) int {
	if p.Output.Server > 0 {
		return p.Output.Server
	}
	return p.Output.Client
}

// length says what became of the length that was asked for. A text that the client counts again may be a token or two off.
func length(a *Asked, p *metric.Probe, reply *record.Reply) string {
	n := produced(p)
	switch {
	case a.Refused:
		return metric.LengthRefused
	case !a.FixedLength || n == 0:
		return ""
	case reply.FinishReason == "length", n >= Tokens, p.Output.Server == 0 && n >= Tokens-spare:
		return metric.LengthReached
	}
	return metric.LengthIgnored
}

// look takes out of the messages what the endpoint type does not keep.
func look(p *metric.Probe, messages []record.Message, reply *record.Reply) {
	content := map[int]bool{}
	for _, c := range reply.Contents {
		content[c.Message] = true
	}
	var counted []int // messages with token counts
	for i := range messages {
		m := &messages[i]
		p.Streamed = p.Streamed || !m.Body
		if !m.Body && sse.IsDone(m.Raw) {
			p.Done = true
			continue
		}
		d := parse(m)
		if d == nil {
			continue
		}
		if p.Model == "" {
			p.Model = d.model()
		}
		if p.ReasoningField == "" {
			p.ReasoningField = d.reasoning()
		}
		if d.counts() {
			counted = append(counted, i)
		}
	}
	p.Usage = place(counted, content, p)
}

// place says where token counts came.
func place(counted []int, content map[int]bool, p *metric.Probe) string {
	with := slices.DeleteFunc(slices.Clone(counted), func(i int) bool { return !content[i] })
	switch {
	case len(counted) == 0:
		return metric.UsageNone
	case !p.Streamed:
		return metric.UsageBody
	case len(with) > 1 && len(with) == p.ContentEvents:
		return metric.UsageEvery
	case len(with) == 0:
		return metric.UsageEnd
	}
	return metric.UsageSome
}
