//go:build unix

package main

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestInputsAreTheServers: the tokens of the input that a record counts are those that the server counted in the body it received, for the
// types that answer with vectors and for ready bodies.
func TestInputsAreTheServers(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready.jsonl")
	if err := os.WriteFile(ready, []byte(`{"prompt":"one two three"}`+"\n"+`{"messages":[{"role":"user","content":"Name three rivers."}],"stream":true}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"chat_embeddings", []string{"--endpoint-type", "chat_embeddings"}},
		{"nim_embeddings", []string{"--endpoint-type", "nim_embeddings", "--batch-size-text", "3"}},
		{"nvclip", []string{"--endpoint-type", "nvclip"}},
		{"messages", []string{"--endpoint-type", "messages", "--system-prompt", "Be brief."}},
		{"raw", []string{"--endpoint-type", "raw", "--input-file", ready, "--custom-dataset-type", "raw_payload"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			truth := filepath.Join(t.TempDir(), "truth.jsonl")
			mock := url.Values{"ttft": {"1ms"}, "itl": {"200us"}, "tokens": {"5"}, "truth-log": {truth}}
			args := append(slices.Clone(c.args), "--url", "mock://?"+mock.Encode(), "--concurrency", "2", "--request-count", "10")
			if c.name != "raw" {
				args = append(args, "--isl", "9")
			}
			list, did := toldTwice(t, truth, args)
			if len(list) != 10 || len(did) != 10 {
				t.Fatalf("%d records of %d requests", len(list), len(did))
			}
			for _, l := range list {
				server, ok := did[l.Metadata.RequestID]
				if !ok || l.Error != nil || server.Outcome != "ok" {
					t.Fatalf("%+v: %v", server, l.Error)
				}
				if c.name == "raw" && server.Stream { // the server counts what it was asked to count
					continue
				}
				if got := l.number(t, "input_sequence_length"); got != float64(server.Prompt) {
					t.Errorf("%v input tokens counted, the server counted %d", got, server.Prompt)
				}
			}
		})
	}
}
