package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/serverprobe"
)

// TestProbe: every finding, caused by a setting of the simulated server, is in the output, in the verdict and in the summary; correct
// behaviour of the server is not a finding; the probe is not in the results.
func TestProbe(t *testing.T) {
	chat := func(*config.Benchmark) {}
	for i, c := range []struct {
		name, knobs string
		change      func(*config.Benchmark)
		finding     string // part of the one finding; "" = none
		flag        string // that it names
		facts       func(p *metric.Probe) bool
	}{
		{"nothing", "", chat, "", "", func(p *metric.Probe) bool {
			return p.Streamed && p.Done && p.Usage == metric.UsageEnd && p.TokensPerEvent == 1 && p.ContentEvents == serverprobe.Tokens && p.Length == metric.LengthReached &&
				p.Model == "m" && p.Prompt.Server == p.Prompt.Client && p.Prompt.Client > 40 && p.Output.Server == serverprobe.Tokens
		}},
		{"tokens of an event", "tokens-per-event=4", chat, "has 4.0 tokens", "--per-chunk-usage", func(p *metric.Probe) bool { return p.TokensPerEvent == 4 }},
		{"no usage", "usage=false", chat, "reports no token counts", "--use-server-token-count", func(p *metric.Probe) bool { return p.Usage == metric.UsageNone && p.Output.Server == 0 }},
		{"usage at the finish", "usage-in=finish", chat, "", "", func(p *metric.Probe) bool { return p.Usage == metric.UsageEnd }},
		{"usage everywhere", "usage-in=every", chat, "", "", func(p *metric.Probe) bool { return p.Usage == metric.UsageEvery }},
		{"no usage of events", "", func(b *config.Benchmark) {
			b.Endpoint.Extra.Set("stream_options", json.RawMessage(`{"include_usage":true,"continuous_usage_stats":false}`))
			b.Endpoint.PerChunkUsage, b.Endpoint.UseServerTokenCount = true, true
		}, "do not report", "--per-chunk-usage", nil},
		{"reasoning", "reasoning=0.5&reasoning-field=reasoning", chat, "has reasoning (reasoning)", "--extra-inputs", func(p *metric.Probe) bool { return p.ReasoningField == "reasoning" }},
		{"reasoning_content", "reasoning=0.5", chat, "has reasoning (reasoning_content)", "--extra-inputs", nil},
		{"no end mark", "done=false", chat, "without data: [DONE]", "--require-stream-completion", func(p *metric.Probe) bool { return !p.Done }},
		{"lengths ignored", "eos=ignore&tokens=5", chat, "sent 5 of 16 tokens", "--osl", func(p *metric.Probe) bool { return p.Length == metric.LengthIgnored }},
		{"lengths refused", "eos=refuse", chat, "refuses ignore_eos", "--extra-inputs", func(p *metric.Probe) bool { return p.Length == metric.LengthRefused }},
		{"lengths that are not sent", "tokens=5", func(b *config.Benchmark) { b.Dataset().Prompts.OSL = config.Normal(9, 0) }, "supports ignore_eos", "--extra-inputs", nil},
		{"another tokenizer", "prompt-factor=1.5", chat, "tokens in the prompt", "--tokenizer", func(p *metric.Probe) bool { return p.Prompt.Server > p.Prompt.Client }},
		{"another model", "answers-as=other", chat, `"other" answered`, "--model", func(p *metric.Probe) bool { return p.Model == "other" }},
		{"completions", "", func(b *config.Benchmark) { b.Endpoint.Type = "completions" }, "", "", func(p *metric.Probe) bool { return p.Done && p.Length != "" }},
		{"responses", "", func(b *config.Benchmark) { b.Endpoint.Type = "responses" }, "", "", func(p *metric.Probe) bool { return p.Model == "m" && p.Usage == metric.UsageEnd }},
		{"messages", "reasoning=0.5", func(b *config.Benchmark) { b.Endpoint.Type = "messages" }, "has reasoning (thinking)", "", func(p *metric.Probe) bool { return p.Usage == metric.UsageEnd }},
		{"in one piece", "", func(b *config.Benchmark) { b.Endpoint.Streaming = false }, "", "", func(p *metric.Probe) bool { return !p.Streamed && p.Usage == metric.UsageBody }},
		{"kserve", "", func(b *config.Benchmark) { b.Endpoint.Type, b.Endpoint.Transport = "kserve", "grpc" }, "", "", func(p *metric.Probe) bool { return p.Usage == metric.UsageNone && p.Streamed }},
		{"refused", "error-rate=1&error-kinds=http-503", chat, "-", "", func(p *metric.Probe) bool { return strings.HasPrefix(p.Failure, "503 Service Unavailable") }},
	} {
		if i%testhome.Stride(3) != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := whole(dir, "mock://?ttft=0&itl=0&"+c.knobs, 2)
			b.Endpoint.Probe = ptr(true)
			c.change(b)
			var told locked
			run, err := Run(t.Context(), b, nil, Options{Err: &told})
			if err != nil {
				t.Fatal(err, told.String())
			}
			p := run.Probe
			if p != nil { // the simulated server sends all events at once; on a busy machine that can take long enough to be a finding
				p.Findings = slices.DeleteFunc(p.Findings, func(f string) bool { return strings.HasPrefix(f, "The stream arrives in bursts") })
			}
			if p == nil || c.facts != nil && !c.facts(p) {
				t.Fatalf("%+v\n%s", p, told.String())
			}
			if n := run.Profiling.Valid + run.Profiling.Failed; n != 2 {
				t.Errorf("%d requests in the results", n)
			}
			switch {
			case c.finding == "-":
				c.finding = p.Failure
			case c.finding == "" && len(p.Findings) == 0:
				return
			case len(p.Findings) != 1 || !strings.Contains(p.Findings[0], c.finding) || !strings.Contains(p.Findings[0], c.flag):
				t.Fatalf("findings %q", p.Findings)
			case !strings.Contains(strings.Join(run.Validity.Notes, "\n"), "Probe: "+p.Findings[0]):
				t.Errorf("notes %q", run.Validity.Notes)
			}
			if !strings.Contains(told.String(), "aiperf: probe: ") || !strings.Contains(told.String(), c.finding) {
				t.Errorf("told %s", told.String())
			}
			var summary struct{ Probe *metric.Probe }
			data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
			if err != nil || json.Unmarshal(data, &summary) != nil || summary.Probe == nil || !strings.Contains(strings.Join(append(summary.Probe.Findings, summary.Probe.Failure), "\n"), c.finding) {
				t.Errorf("summary %+v %v", summary.Probe, err)
			}
		})
	}
}

// TestProbeIsAsked: where somebody watches, and where the settings ask for it.
func TestProbeIsAsked(t *testing.T) {
	testhome.Slow(t)
	for _, c := range []struct {
		set         *bool
		interactive bool
		kind        string
		want        bool
	}{{nil, true, "chat", true}, {nil, false, "chat", false}, {ptr(false), true, "chat", false}, {ptr(true), false, "embeddings", true}, {ptr(true), true, "image_generation", false}} {
		b := whole(t.TempDir(), "mock://?ttft=0&itl=0", 1)
		b.Endpoint.Probe, b.Endpoint.Type = c.set, c.kind
		b.Endpoint.Streaming = false
		var told locked
		run, err := Run(t.Context(), b, nil, Options{Err: &told, Interactive: c.interactive})
		if err != nil || (run.Probe != nil) != c.want {
			t.Errorf("%+v: %+v %v", c, run, err)
		}
		if not := strings.Contains(told.String(), "is not probed"); not != (c.kind == "image_generation") {
			t.Errorf("%+v: %s", c, told.String())
		}
	}
}
