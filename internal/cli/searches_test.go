package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"aiperf/internal/config"
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
		latency + "--request-rate 4":                   {"--request-rate: the search chooses"},
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
