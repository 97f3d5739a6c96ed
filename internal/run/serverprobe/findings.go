package serverprobe

import (
	"fmt"
	"math"

	"aiperf/internal/measure/metric"
)

// spare is the largest difference between two counts of one tokenizer: special tokens at the ends, a text that is split differently.
const spare = 2

// many is the number of tokens per event above which an event no longer counts as one token.
const many = 1.5

// findings returns sentences about what an answer shows, each with the setting that helps.
func findings(a *ProbeRequest, p *metric.Probe) []string {
	var list []string
	say := func(yes bool, format string, args ...any) {
		if yes {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	counts := a.As("endpoint.use_server_token_count")
	say(p.ContentEvents == 0, "The answer has no text; requests with such answers count as failed.")
	say(a.Streaming && !p.Streamed, "The server answered a streaming request in one piece, so there will be no time to first token; leave out %s.", a.As("endpoint.streaming"))
	say(p.TokensPerEvent >= many && !a.PerChunk,
		"An event has %.1f tokens on average, so gaps between events are not gaps between tokens; add %s and %s to count the tokens of every event.",
		p.TokensPerEvent, a.As("endpoint.per_chunk_usage"), counts)
	say(a.PerChunk && p.Usage != metric.UsageEvery, "Events do not report their token counts (usage: %s), so %s has no effect; leave it out.", p.Usage, a.As("endpoint.per_chunk_usage"))
	say(p.Usage == metric.UsageNone && a.ServerTokens, "The server reports no token counts; leave out %s, or there will be no token metrics.", counts)
	say(p.Usage == metric.UsageNone && !a.ServerTokens && a.Marked, // other types have no usage by nature, or always have it
		"The server reports no token counts, so aiperf counts with the tokenizer; do not use %s.", counts)
	say(p.ReasoningField != "", "The answer has reasoning (%s). The time to first token ends at the first reasoning token, time_to_first_output_token at the first token of the answer. "+
		`%s '{"chat_template_kwargs":{"enable_thinking":false}}' turns reasoning off in many servers.`, p.ReasoningField, a.As("endpoint.extra"))
	list = append(list, ending(a, p)...)
	list = append(list, lengths(a, p)...)
	list = append(list, tokens(a, p)...)
	say(p.Model != "" && p.Model != a.Model, "The run asked for model %q, but %q answered; check %s.", a.Model, p.Model, a.As("models.items"))
	return list
}

// ending returns findings about how streams end.
func ending(a *ProbeRequest, p *metric.Probe) []string {
	switch {
	case !p.Streamed || p.Done || !a.Marked:
		return nil
	case a.Complete:
		return []string{fmt.Sprintf("The stream ends without data: [DONE]; %s accepts it as complete if it has a finish reason.", a.As("endpoint.require_stream_completion"))}
	}
	return []string{fmt.Sprintf("The stream ends without data: [DONE], so an interrupted stream looks complete; add %s to require a finish reason.", a.As("endpoint.require_stream_completion"))}
}

// lengths returns findings about ignore_eos and min_tokens.
func lengths(a *ProbeRequest, p *metric.Probe) []string {
	extra := a.As("endpoint.extra")
	switch {
	case p.Length == metric.LengthRefused:
		return []string{fmt.Sprintf("The server refuses ignore_eos and min_tokens, so answers end when the model ends them and %s is only an upper bound; leave both out of %s.",
			a.As("datasets.main.prompts.osl.mean"), extra)}
	case p.Length == metric.LengthIgnored:
		return []string{fmt.Sprintf("The server ignores ignore_eos and min_tokens: it sent %d of %d tokens, so %s is only an upper bound.", produced(p), p.TokensAsked, a.As("datasets.main.prompts.osl.mean"))}
	case p.Length == metric.LengthReached && a.Bounded:
		return []string{fmt.Sprintf("The server supports ignore_eos, but the run does not send it, so answers may be shorter than %s; add %s ignore_eos:true for the full length.",
			a.As("datasets.main.prompts.osl.mean"), extra)}
	}
	return nil
}

// tokens compares the server's token counts with the client's.
func tokens(a *ProbeRequest, p *metric.Probe) (list []string) {
	if a.Count == nil {
		return nil
	}
	way := fmt.Sprintf("check that %s %s belongs to the model, or use the server's counts with %s", a.As("tokenizer.name"), a.Tokenizer, a.As("endpoint.use_server_token_count"))
	server, client, templated := p.Prompt.Server, p.Prompt.Client, p.Prompt.Templated
	switch {
	case server == 0 || client == 0 || near(server, client):
	case templated > 0 && near(server, templated) && !a.Templated:
		list = append(list, fmt.Sprintf("The server counts %d tokens in the prompt, but its texts have only %d; the others come from the chat template. Add %s to count them too.",
			server, client, a.As("tokenizer.apply_chat_template")))
	case templated > 0 && near(server, templated):
	case templated > 0:
		list = append(list, fmt.Sprintf("The server counts %d tokens in the prompt, the client %d with the chat template; %s.", server, templated, way))
	default:
		list = append(list, fmt.Sprintf("The server counts %d tokens in the prompt, the client %d without a chat template; %s.", server, client, way))
	}
	forced := a.FixedLength && p.Output.Server >= Tokens // by special tokens, which do not appear in the text
	if server, client := p.Output.Server, p.Output.Client; server > 0 && client > 0 && !near(server, client) && (client > server || !forced) {
		list = append(list, fmt.Sprintf("The server counts %d tokens in the answer, the client %d; %s.", server, client, way))
	}
	return list
}

// near reports whether two counts may come from one tokenizer.
func near(x, y int) bool { return math.Abs(float64(x-y)) <= spare }
