package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/results"
	"aiperf/internal/run/serverprobe"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
)

// probeLimit is the time limit of the probe: a server with a queue must not delay the run.
const probeLimit = 30 * time.Second

// Probe sends one request before the load and reports what its answer shows about the server. It has its own connection and is not part of any result.
// The run continues after a failed probe, unless the failure is hopeless. The result is nil if no probe was sent.
func (p *Sender) Probe(ctx context.Context) (*metric.Probe, error) {
	asked := p.Config.Endpoint.Probe
	if asked == nil && !p.Interactive || asked != nil && !*asked {
		return nil, nil
	}
	if !probes(p.Endpoint) {
		if asked != nil {
			p.Say.Note("%s: endpoint type %s is not probed", p.Config.As("endpoint.probe"), p.Endpoint.Name)
		}
		return nil, nil
	}
	result, err := p.sendProbe(ctx)
	if err := p.checkHopeless(ctx, err); err != nil {
		return nil, err
	}
	if err != nil {
		result = &metric.Probe{Failure: p.Secrets.Text(firstWords(err.Error()))}
		p.Say.Note("probe: no result: %s", result.Failure)
	}
	for _, text := range result.Findings {
		p.Say.Note("probe: %s", text)
	}
	return result, nil
}

// probes reports whether an endpoint type is probed: it takes text and answers with text or vectors. Images and videos cost too much.
func probes(e *endpoint.Endpoint) bool {
	return e.TokenizesInput && !e.Ranks() && (e.Produces == record.Text || e.Produces == record.Embeddings)
}

// sendProbe sends the probe. If the server refuses the settings that fix the length of the answer, it sends the probe again without them.
func (p *Sender) sendProbe(ctx context.Context) (*metric.Probe, error) {
	ctx, stop := context.WithTimeout(ctx, probeLimit)
	defer stop()
	over, release, err := p.ownClient(nil)
	if err != nil {
		return nil, err
	}
	defer release()
	asked, err := p.probeRequest(p.model())
	if err != nil {
		return nil, err
	}
	rec, err := p.probeOnce(ctx, over, asked.FixedLength)
	if err == nil && asked.FixedLength && rejected(rec.Error) {
		rec.Release()
		asked.FixedLength, asked.Refused = false, true
		rec, err = p.probeOnce(ctx, over, false)
	}
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	reply, failure := endpoint.Decode(p.Codec, rec, endpoint.DecodeOptions{})
	if rec.Error != nil {
		failure = rec.Error
	}
	if failure != nil {
		return nil, probeRefusal{failure}
	}
	if asked.Count != nil {
		asked.PromptTokens = reply.InputTokens
		if len(reply.InputTexts) > 0 {
			asked.PromptTokens += asked.Count(strings.Join(reply.InputTexts, " "))
		}
		asked.WithTemplate = p.templated(rec, reply)
	}
	result := serverprobe.Read(asked, rec.Messages, reply)
	if lumps := metric.ProbeLumps(rec, reply.Contents); lumps != "" && asked.Streaming {
		result.Findings = append(result.Findings, lumps)
	}
	return result, nil
}

// firstWords returns the beginning of a text, on one line.
func firstWords(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// rejected reports whether the server refused the content of the request.
func rejected(e *record.Error) bool {
	return e != nil && (e.Code == http.StatusBadRequest || e.Code == http.StatusUnprocessableEntity)
}

// probeOnce sends the probe and returns its record. fixed = the length of the answer is fixed.
func (p *Sender) probeOnce(ctx context.Context, over connection.Client, fixed bool) (*record.Record, error) {
	length := serverprobe.Tokens
	turn := conversation.Turn{MaxTokens: &length, Parts: conversation.Texts("", serverprobe.Prompt)}
	if fixed {
		turn.ExtraBody = json.RawMessage(fmt.Sprintf(`{"ignore_eos":true,"min_tokens":%d}`, length))
	}
	req, err := p.Codec.Encode(&turn, &endpoint.History{RequestID: "probe"})
	if err != nil {
		return nil, err
	}
	rec, err := p.Executor.RoundTrip(ctx, over, 0, &req)
	if err == nil {
		rec.Model, rec.Payload = p.model(), req.Body
	}
	return rec, err
}

// probeRequest returns what the probe asks for, and what is needed to judge its answer.
func (p *Sender) probeRequest(model string) (*serverprobe.ProbeRequest, error) {
	cfg, e := p.Config, &p.Config.Endpoint
	_, exact := e.Extra.Get("ignore_eos")
	osl := cfg.Dataset().Prompts != nil && cfg.Dataset().Prompts.OSL != nil
	a := &serverprobe.ProbeRequest{
		Streaming: p.Streaming, Framing: p.Endpoint.Framing, Model: model, FixedLength: p.Endpoint.FixesLength, Bounded: osl && !exact,
		ServerTokens: e.UseServerTokenCount, PerChunk: e.PerChunkUsage, Templated: results.Templated(cfg, p.Endpoint), Marked: p.Endpoint.Marked, Complete: e.RequireCompletion, As: cfg.As,
	}
	if !results.Counts(cfg, p.Endpoint) {
		return a, nil
	}
	all, err := p.Tokenizers()
	if err != nil {
		return nil, err
	}
	a.Tokenizer, a.Count = all.Of(model).Name(), func(text string) int {
		n, err := all.Count(model, text)
		if err != nil {
			return -1
		}
		return n
	}
	return a, nil
}

// templated counts the tokens of a request with the model's chat template; 0 if there is no template.
func (p *Sender) templated(rec *record.Record, reply *record.Reply) int {
	all, err := p.Tokenizers()
	if err != nil || !p.Endpoint.SystemMessage {
		return 0
	}
	n, err := results.TemplateTokens(all, rec, reply)
	if err != nil {
		return 0
	}
	return max(0, n)
}
