package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
)

// TestGlossary: docs/glossary.md has every metric with its formula. It is written by go test ./internal/cli -run Glossary -update.
func TestGlossary(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "glossary.md")
	want := glossary(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what the tables say (%v): run go test ./internal/cli -run Glossary -update", path, err)
	}
	var tags []string
	for _, one := range metric.All() {
		tags = append(tags, one.Tag)
	}
	for _, one := range otherNames {
		if !slices.Contains(tags, one.tag) {
			t.Errorf("%s is not a metric", one.tag)
		}
	}
	for _, one := range formulas {
		if begin, ok := strings.CutSuffix(one.tag, "*"); !slices.Contains(tags, one.tag) && !(ok && slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, begin) })) {
			t.Errorf("%s fits no metric", one.tag)
		}
	}
}

// glossary is the page of all metrics.
func glossary(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Glossary of the metrics\n\nMade of the table of metrics (`go test ./internal/cli -run Glossary -update`); do not edit. `aiperf help ttft` shows one entry.\n\n" +
		"## One request\n\n```text\n" +
		"  D          S                    T1    T2    T3              Tn   E\n" +
		"  |----------|--------------------|-----|-----|--- … ---------|----|------> time\n" +
		"  due        request starts       first second, third, …      last content, last message\n" +
		"             |<------ TTFT ------>|\n" +
		"             |                    |<---- decode duration ---->|\n" +
		"             |<--------------- request latency -------------->|\n" +
		"  |<-------------- request latency from schedule ------------>|\n```\n\n" +
		"`n` is the number of output tokens, `N` the number of valid requests, and `W` the time from the first start to the last end of the measured phase. A metric of a\n" +
		"request is reported with average, minimum, maximum, percentiles and standard deviation over all valid requests.\n" +
		"Lags, `read_delay_max` and `tcp_…` cover failed requests as well.\n" +
		"Metrics over time (`effective_…`, `active_…`, `tokens_in_flight`) are curves: their statistics weight each value by the time that it lasted.\n" +
		"In a run of more than about 250,000 tokens, their percentiles may be up to 0.006 % too low.\n" +
		"Without `--streaming` there is no T1, so those of tokens, of prefill and of decoding are absent.\n\n" +
		"## All metrics\n\n| name in files | title | unit | formula |\n|---|---|---|---|\n")
	for _, one := range metric.All() {
		formula := formulaOf(one.Tag)
		if formula == "" {
			t.Errorf("%s has no formula in the glossary", one.Tag)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", one.Tag, cell(one.Header), one.Display, cell(formula))
	}
	b.WriteString("\n## Power metrics\n\nThey exist for each platform, `nvidia_` and `amd_`, if GPU telemetry has readings. `P` is the sum of the mean power of all GPUs in W, `J` the energy of all\n" +
		"GPUs in the measured phase in joules. For a GPU whose energy counter does not cover the phase, it is its mean power times W.\n\n| name after the platform | formula |\n|---|---|\n" +
		"| `total_gpu_power` | P |\n| `average_gpu_power` | J / W; without an energy counter P |\n| `total_gpu_energy` | J; without an energy counter P × W |\n| `energy_per_request` | J / N |\n| `energy_per_user` | J / concurrency |\n" +
		"| `energy_per_output_token`, `energy_per_total_token` | J / sum of output tokens, or of input and output tokens; in mJ |\n| `output_tokens_per_joule` | sum of output tokens / J |\n" +
		"| `performance_per_watt` | request_throughput / average_gpu_power |\n| `output_tps_per_watt` | output_token_throughput / average_gpu_power |\n" +
		"| `goodput_per_watt` | goodput / average_gpu_power |\n| `energy_delay_product` | energy_per_request × request_latency in s |\n")
	b.WriteString("\n## Names in other tools\n\nThe same word can mean different things: `itl` of vLLM is the gap between two messages, `inter_token_latency` is the mean per token, which vLLM calls `tpot`.\n\n" +
		"| aiperf, AIPerf | vLLM bench | guidellm | GenAI-Perf | MLPerf | k6 |\n|---|---|---|---|---|---|\n")
	for _, one := range otherNames {
		fmt.Fprintf(&b, "| `%s` |", one.tag)
		for _, name := range []string{one.vllm, one.guidellm, one.genaiPerf, one.mlperf, one.k6} {
			fmt.Fprintf(&b, " %s |", cell(name))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestHelpOnMetrics: help explains a metric by its tag and its short name.
func TestHelpOnMetrics(t *testing.T) {
	for _, word := range []string{"ttft", "time_to_first_token", "time-to-first-token"} {
		var out, errs strings.Builder
		if status := Main(t.Context(), &Program{Streams: Streams{Out: &out, Err: &errs}}, []string{"help", word}); status != 0 || !strings.Contains(out.String(), "T1 − S") || !strings.Contains(out.String(), "vLLM bench  ttft") {
			t.Errorf("%s: status %d, %s%s", word, status, out.String(), errs.String())
		}
	}
}
