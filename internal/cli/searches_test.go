package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/series/plan"
)

// TestFindCapacityRefuses: settings that no search can judge, or that leave nothing to search, are errors before the first request and in a dry run, each with its flag.
func TestFindCapacityRefuses(t *testing.T) {
	const latency = "--slo request_latency:p99<200 "
	for words, wants := range map[string][]string{
		"--slo osl:p99<200 --slo request_latncy:p99<1": {"did you mean request_latency?"},
		"--slo time_to_first_token:p99<200":            {"time_to_first_token does not exist in this run (needs --streaming)"},
		"--slo inter_chunk_latency:p99<2 --streaming":  {"inter_chunk_latency is not one number per successful request"},
		latency + "--concurrency 1,4":                  {"--concurrency makes a series"},
		latency + "--search-recipe concurrency-ramp":   {"--search-recipe makes a series"},
		latency + "--num-profile-runs 3":               {"--num-profile-runs: this command starts its own runs"},
		latency + "--request-rate 4":                   {"--request-rate: find-capacity chooses the load itself; remove it"},
		latency + "--precision 200%":                   {`--precision: "200%" is not a percentage above 0 and at most 100; write for example --precision 5%`},
		latency + "--json /dev/null/x":                 {"--json: /dev/null/x cannot be written, because /dev/null is a file; name a file in a folder"},
		latency + "--slo error_rate<1%":                nil,
	} {
		for _, dry := range []string{"", " --dry-run"} {
			var out, errs bytes.Buffer
			ran := false
			p := &Program{
				Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, FindTokenizer: offline,
				Capacity: func(_ context.Context, _ *config.Run, o plan.CapacityOptions, _ Streams) int {
					ran = len(o.Objectives) == 2
					return 0
				},
			}
			status := Main(t.Context(), p, append([]string{"find-capacity", "--url", "http://a", "-m", "m", "--tokenizer", "builtin"}, strings.Fields(words+dry)...))
			if (status == 1) != (wants != nil) || ran != (wants == nil && dry == "") {
				t.Errorf("%s%s: status %d, ran %v: %s", words, dry, status, ran, errs.String())
			}
			for _, want := range wants {
				if !strings.Contains(errs.String(), "error: ") || !strings.Contains(errs.String(), want) {
					t.Errorf("%s%s: %q is missing in %s", words, dry, want, errs.String())
				}
			}
		}
	}
}

// TestTurnsRefuses: mistakes in the flags of ab are errors before the first block and in a dry run. Each error names its flag and what to write.
func TestTurnsRefuses(t *testing.T) {
	const targets = "--a http://a --b http://b "
	for words, want := range map[string]string{
		"--b http://b":                        "--a is missing: ab compares two servers",
		"--a http://a":                        "--b is missing: ab compares two servers",
		targets + "--url http://c":            "--url: ab has two servers; remove it",
		targets + "--request-count 5":         "--request-count: ab ends every block after a time; remove it",
		targets + "--benchmark-duration 5":    "--benchmark-duration: ab ends every block after a time; remove it",
		targets + "--metrics ttft:p77":        `--metrics: "ttft:p77" is not a statistic that can be compared`,
		targets + "--metrics ttft":            "write for example ttft:p99",
		targets + "--margin x":                `--margin: "x" is not a percentage from 0 to 100; write for example 5%`,
		targets + "--margin ttft:p98:3%":      "write for example ttft:p99:10%",
		targets + "--json /dev/null/x":        "--json: /dev/null/x cannot be written, because /dev/null is a file",
		targets + "--html /dev":               "--html: /dev is a folder; name a file",
		targets + "--fail-on better":          `--fail-on: "better" is unknown; write worse, cannot-tell or worse,cannot-tell`,
		targets + "--metrics ttft:p99":        "",
		targets + "--metrics latency:avg,rps": "",
	} {
		for _, dry := range []string{"", " --dry-run"} {
			var out, errs bytes.Buffer
			ran := false
			p := &Program{
				Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, FindTokenizer: offline,
				Turns: func(context.Context, *config.Run, plan.TurnOptions, Streams) (*comparison.Result, error) {
					ran = true
					return nil, errors.New("the test sends nothing")
				},
			}
			status := Main(t.Context(), p, append([]string{"ab", "-m", "m", "--tokenizer", "builtin"}, strings.Fields(words+dry)...))
			if refused := want != ""; refused && (status != 1 || ran) || !refused && ran == (dry != "") {
				t.Errorf("%s%s: status %d, ran %v: %s", words, dry, status, ran, errs.String())
			}
			if !strings.Contains(errs.String(), want) {
				t.Errorf("%s%s: %q is missing in %s", words, dry, want, errs.String())
			}
		}
	}
}

// TestLabelsOfTargets: ab takes no label, or two different ones.
func TestLabelsOfTargets(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "old new": true, "old": false, "old old": false, "a b c": false} {
		if err := checkLabels(strings.Fields(text)); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := checkLabels([]string{"old", ""}); err == nil || !strings.Contains(err.Error(), "write --label old --label new") {
		t.Error(err)
	}
}
