package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/conversation"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/probe"
	"aiperf/internal/record"
	"aiperf/internal/transport"
)

// probeTime is how long a server may take to answer the probe: a queue is no reason to hold up the run.
const probeTime = 30 * time.Second

// probe sends one request before the load and tells what its answer shows of the server. It has a connection of its own, and no result
// holds it. The run goes on whatever becomes of it, unless it is hopeless.
func (o *opened) probe(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved, say *reporter) error {
	asked := cfg.Endpoint.Probe
	if asked == nil && !opts.Interactive || asked != nil && !*asked {
		return nil
	}
	if !probes(r.endpoint) {
		if asked != nil {
			say.note("%s: endpoint type %s is not probed", cfg.As("endpoint.probe"), r.endpoint.Name)
		}
		return nil
	}
	p, err := o.question(ctx, cfg, opts, r)
	if err := o.hopeless(ctx, cfg, opts, r, err); err != nil {
		return err
	}
	if err != nil {
		p = &metric.Probe{Failure: opts.Secrets.Text(firstWords(err.Error()))}
		say.note("probe: nothing was learnt: %s", p.Failure)
	}
	for _, text := range p.Findings {
		say.note("probe: %s", text)
	}
	o.probed = p
	return nil
}

// probes tells whether an endpoint type is asked in words and answers with text or vectors: pictures and films cost too much.
func probes(e *endpoint.Endpoint) bool {
	return e.TokenizesInput && !e.Ranks() && (e.Produces == record.Text || e.Produces == record.Embeddings)
}

// question asks, without what fixes the length where the server refuses that.
func (o *opened) question(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved) (*metric.Probe, error) {
	ctx, stop := context.WithTimeout(ctx, probeTime)
	defer stop()
	connections := Connections(cfg, nil)
	connections.Capture = transport.CaptureOff
	over, _, release, err := carry(cfg, r, connections, userAgent(opts.Version))
	if err != nil {
		return nil, err
	}
	defer release()
	asked, err := r.asked(cfg, o.executor.model)
	if err != nil {
		return nil, err
	}
	rec, err := o.answer(ctx, over, asked.FixedLength)
	if err == nil && asked.FixedLength && rejected(rec.Error) {
		rec.Release()
		asked.FixedLength, asked.Refused = false, true
		rec, err = o.answer(ctx, over, false)
	}
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	reply, failure := endpoint.Decode(r.codec, rec, endpoint.DecodeOptions{})
	if rec.Error != nil {
		failure = rec.Error
	}
	if failure != nil {
		return nil, refusal{failure}
	}
	if asked.Count != nil {
		asked.PromptTokens = reply.InputTokens
		if len(reply.InputTexts) > 0 {
			asked.PromptTokens += asked.Count(strings.Join(reply.InputTexts, " "))
		}
		asked.WithTemplate = r.templated(rec, reply)
	}
	p := probe.Read(asked, rec.Messages, reply)
	if lumps := metric.ProbeLumps(rec, reply.Contents); lumps != "" && asked.Streaming {
		p.Findings = append(p.Findings, lumps)
	}
	return p, nil
}

// firstWords is the beginning of a text, on one line.
func firstWords(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// rejected tells whether the server did not like the request itself.
func rejected(e *record.Error) bool {
	return e != nil && (e.Code == http.StatusBadRequest || e.Code == http.StatusUnprocessableEntity)
}

// answer sends the probe.
func (o *opened) answer(ctx context.Context, over carrier, fixed bool) (*record.Record, error) {
	length := probe.Tokens
	turn := conversation.Turn{MaxTokens: &length, Parts: conversation.Texts("", probe.Prompt)}
	if fixed {
		turn.ExtraBody = json.RawMessage(fmt.Sprintf(`{"ignore_eos":true,"min_tokens":%d}`, length))
	}
	req, err := o.executor.codec.Encode(&turn, &endpoint.History{RequestID: "probe"})
	if err != nil {
		return nil, err
	}
	rec, err := o.executor.aside(ctx, over, 0, &req)
	if err == nil {
		rec.Model, rec.Payload = o.executor.model, req.Body
	}
	return rec, err
}

// asked says what the probe asks for, and what its answer is held against.
func (r *resolved) asked(cfg *config.Benchmark, model string) (*probe.Asked, error) {
	e := &cfg.Endpoint
	_, exact := e.Extra.Get("ignore_eos")
	osl := cfg.Dataset().Prompts != nil && cfg.Dataset().Prompts.OSL != nil
	a := &probe.Asked{
		Streaming: r.metrics.Options().Streaming, Model: model, FixedLength: r.endpoint.FixesLength, Bounded: osl && !exact,
		ServerTokens: e.UseServerTokenCount, PerChunk: e.PerChunkUsage, Templated: assembly.Templated(cfg, r.endpoint), Marked: r.endpoint.Marked, Complete: e.RequireCompletion, As: cfg.As,
	}
	if !assembly.Counts(cfg, r.endpoint) {
		return a, nil
	}
	all, err := r.tokenizers()
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

// templated counts the tokens of a request in the model's chat template; 0 = there is none for it.
func (r *resolved) templated(rec *record.Record, reply *record.Reply) int {
	all, err := r.tokenizers()
	if err != nil || !r.endpoint.SystemMessage {
		return 0
	}
	n, err := assembly.TemplateTokens(all, rec, reply)
	if err != nil {
		return 0
	}
	return max(0, n)
}
