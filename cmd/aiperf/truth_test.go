//go:build unix

package main

import (
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/sim/mockserver"
)

// TestTokensAreTheServers: whatever the server does, the tokens that a record counts are those that the server wrote, in every record.
func TestTokensAreTheServers(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		name string
		mock url.Values // in addition to quick answers
		args []string
	}{
		{"one token an event", url.Values{}, []string{"--streaming"}},
		{"seven tokens an event", url.Values{"tokens-per-event": {"7"}, "tokens": {"40"}}, []string{"--streaming"}},
		{"not streamed", url.Values{}, nil},
		{"reasoning", url.Values{"reasoning": {"0.4"}, "tokens-per-event": {"3"}}, []string{"--streaming"}},
		{"all reasoning", url.Values{"reasoning": {"1"}}, []string{"--streaming"}},
		{"reasoning, not streamed", url.Values{"reasoning": {"0.5"}}, nil},
		{"jitter and lengths asked for", url.Values{"jitter": {"1"}}, []string{"--streaming", "--osl", "30", "--osl-stddev", "10", "--extra-inputs", "ignore_eos:true"}},
		{"completions", url.Values{"tokens-per-event": {"2"}}, []string{"--streaming", "--endpoint-type", "completions"}},
		{"completions, not streamed", url.Values{}, []string{"--endpoint-type", "completions"}},
		{"no usage", url.Values{"usage": {"false"}}, []string{"--streaming"}},
		{"errors of all kinds", url.Values{"error-rate": {"0.5"}, "error-kinds": {"http-500+http-429+sse+close+reset"}}, []string{"--streaming"}},
		{"server's counts", url.Values{"reasoning": {"0.3"}}, []string{"--streaming", "--use-server-token-count"}},
		{"messages", url.Values{"reasoning": {"0.4"}, "tokens-per-event": {"2"}}, []string{"--streaming", "--endpoint-type", "messages"}},
		{"messages, no reasoning", url.Values{}, []string{"--streaming", "--endpoint-type", "messages", "--use-server-token-count"}},
		{"messages, not streamed", url.Values{"reasoning": {"0.4"}}, []string{"--endpoint-type", "messages"}},
		{"messages, several turns", url.Values{"reasoning": {"0.4"}}, []string{"--streaming", "--endpoint-type", "messages", "--session-turns-mean", "3", "--num-sessions", "10"}},
		{"messages, errors", url.Values{"error-rate": {"0.5"}, "error-kinds": {"http-500+sse+close"}}, []string{"--streaming", "--endpoint-type", "messages"}},
		{"responses", url.Values{"reasoning": {"0.4"}}, []string{"--streaming", "--endpoint-type", "responses"}},
		{"responses, not streamed", url.Values{"reasoning": {"0.4"}}, []string{"--endpoint-type", "responses"}},
		{"huggingface_generate", url.Values{"tokens-per-event": {"3"}}, []string{"--streaming", "--endpoint-type", "huggingface_generate", "--osl", "20", "--extra-inputs", "ignore_eos:true"}},
		{"huggingface_generate, not streamed", url.Values{}, []string{"--endpoint-type", "huggingface_generate"}},
		{"generate", url.Values{}, []string{"--streaming", "--endpoint-type", "generate", "--model", "my model", "--tokenizer", "builtin"}},
		{"generate, not streamed", url.Values{}, []string{"--endpoint-type", "generate", "--osl", "10"}},
		{"solido_rag", url.Values{}, []string{"--endpoint-type", "solido_rag"}},
		{"template", url.Values{"tokens-per-event": {"2"}}, []string{"--streaming", "--endpoint-type", "template",
			"--extra-inputs", `{"payload_template":"{\"text\": {{ texts|tojson }}, \"stream\": {{ stream|tojson }}}","response_field":"text || ''"}`}},
		{"template, not streamed", url.Values{}, []string{"--endpoint-type", "template", "--extra-inputs", "payload_template:nv-embedqa"}},
		{"several turns", url.Values{}, []string{"--streaming", "--session-turns-mean", "3", "--num-sessions", "10"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			truth := filepath.Join(t.TempDir(), "truth.jsonl")
			mock := url.Values{"ttft": {"1ms"}, "itl": {"200us"}, "tokens": {"24"}, "truth-log": {truth}}
			for k, v := range c.mock {
				mock[k] = v
			}
			args := append(slices.Clone(c.args), "--url", "mock://?"+mock.Encode(), "--concurrency", "4", "--isl", "8", "--num-dataset-entries", "10")
			if !has(args, "--num-sessions") {
				args = append(args, "--request-count", "40")
			}
			list, did := toldTwice(t, truth, args)
			if len(list) != len(did) || len(list) < 20 {
				t.Fatalf("%d records of %d requests", len(list), len(did))
			}
			good := 0
			for _, l := range list {
				server, ok := did[l.Metadata.RequestID]
				if !ok {
					t.Fatalf("the server does not know request %s", l.Metadata.RequestID)
				}
				if ok := server.Outcome == "ok"; ok != (l.Error == nil) {
					t.Errorf("request %d: outcome %s, error %v", server.Number, server.Outcome, l.Error)
				}
				if l.Error != nil {
					continue
				}
				good++
				if got := l.number(t, "output_sequence_length"); got != float64(server.Tokens+server.Reasoning) {
					t.Errorf("request %d: %v tokens counted, %d + %d written", server.Number, got, server.Tokens, server.Reasoning)
				}
				if server.Reasoning > 0 {
					if got := l.number(t, "reasoning_token_count"); got != float64(server.Reasoning) {
						t.Errorf("request %d: %v reasoning tokens counted, %d written", server.Number, got, server.Reasoning)
					}
				}
			}
			if good == 0 {
				t.Error("no request succeeded")
			}
		})
	}
}

func has(args []string, name string) bool {
	for _, a := range args {
		if a == name {
			return true
		}
	}
	return false
}

// toldTwice runs the program and gives its records, and what the server wrote down about the same requests by their ids.
func toldTwice(t *testing.T, truth string, args []string) (list []line, did map[string]mockserver.Truth) {
	t.Helper()
	p := program(t, args...)
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	did = map[string]mockserver.Truth{}
	for _, l := range readLines[mockserver.Truth](t, truth) {
		did[l.RequestID] = l
	}
	return p.records(), did
}
