// Package serverprobe finds out how a server behaves from the answer to one request before the load: in how many pieces text arrives, where the server
// counts tokens and whether its counts agree with ours, and whether it follows requested lengths.
package serverprobe

import (
	"slices"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// Tokens is the output length that the probe requests.
const Tokens = 16

// Prompt is the text of the probe: words, digits, symbols and letters that tokenizers split differently. The natural answer is short, so a long one
// shows that the server forced the model to continue.
const Prompt = "Which of these is a colour? Answer with that one word: Straßenbahn, naïve façade, snake_case_name(x) != 0x7f; 東京都, Привет, blue, 1234567890."

// ProbeRequest holds what the probe asked for, and what is needed to judge the answer.
type ProbeRequest struct {
	Streaming    bool
	Framing      framing.Format // of answers that stream; nil = server-sent events
	Model        string
	FixedLength  bool // ignore_eos and min_tokens were sent
	Bounded      bool // the run has requested lengths but does not enforce them
	Refused      bool // ignore_eos and min_tokens were sent, and the server refused the request because of them
	ServerTokens bool // the run uses the server's counts
	PerChunk     bool // token counts are requested in every event
	Templated    bool // the run counts inputs with the chat template
	Marked       bool // streams of the endpoint type end with data: [DONE]
	Complete     bool // the run requires streams to say that they are complete

	PromptTokens int                   // tokens of the texts of the request; 0 = the client does not count
	WithTemplate int                   // tokens of the same texts in the model's chat template; 0 = unknown
	Count        func(text string) int // nil = the client does not count
	Tokenizer    string
	As           func(key string) string // spells a setting as the user writes it
}

// Read judges an answer. reply is the answer as the endpoint type decoded it.
func Read(a *ProbeRequest, messages []record.Message, reply *record.Reply) *metric.Probe {
	p := &metric.Probe{TokensAsked: Tokens, ContentEvents: len(reply.Contents), Usage: metric.UsageNone}
	inspect(p, framing.OrSSE(a.Framing), messages, reply)
	p.Prompt = metric.ProbeTokens{Client: a.PromptTokens, Templated: a.WithTemplate}
	if u := reply.Usage; u != nil {
		p.Prompt.Server, p.Output.Server = max(0, int(u.Prompt)), max(0, int(u.Completion))
	}
	p.Output.Client = reply.OutputTokens
	if a.Count != nil && p.Output.Client == 0 {
		p.Output.Client = count(a.Count, reply.Output) + count(a.Count, reply.Reasoning)
	}
	seen := p.Output.Client // visible tokens: a model that is forced to continue may produce special tokens, which no event contains
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

// produced returns the length of the answer, as the server counts if it does.
func produced(p *metric.Probe) int {
	if p.Output.Server > 0 {
		return p.Output.Server
	}
	return p.Output.Client
}

// length says whether the requested length was reached. A text that the client tokenizes again may be a token or two off.
func length(a *ProbeRequest, p *metric.Probe, reply *record.Reply) string {
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

// inspect takes from the messages what the decoded reply does not contain.
func inspect(p *metric.Probe, f framing.Format, messages []record.Message, reply *record.Reply) {
	content := map[int]bool{}
	for _, c := range reply.Contents {
		content[c.Message] = true
	}
	var counted []int // indices of the messages with token counts
	for i := range messages {
		m := &messages[i]
		p.Streamed = p.Streamed || !m.Body
		if !m.Body {
			last, _ := f.Ends(m.Raw)
			p.Done = p.Done || last
		}
		d := parse(f, m)
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

// place says where token counts arrived.
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
