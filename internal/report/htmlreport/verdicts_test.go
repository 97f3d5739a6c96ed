package htmlreport

import (
	"testing"

	"aiperf/internal/report/runfiles"
)

// TestVerdictsOfRuns: the sentence about several runs holds for each of them: a valid run with failed requests is not called invalid, nor is one of another
// tool, which has no verdict.
func TestVerdictsOfRuns(t *testing.T) {
	summaries := map[string]string{
		"valid": `{"validity":{"verdict":"valid"}}`, "unjudged": `{}`, "uncertain": `{"validity":{"verdict":"uncertain","reason":"Why."}}`, "cut": `{"validity":{"verdict":"valid"},"was_cancelled":true}`,
		"failed": `{"validity":{"verdict":"valid"},"request_count":{"unit":"requests","avg":9},"error_request_count":{"unit":"requests","avg":1}}`,
	}
	for _, c := range []struct {
		runs     []string
		want     string
		findings int
	}{
		{[]string{"valid", "valid"}, "Every run is valid", 0},
		{[]string{"valid", "failed"}, "Every run is valid, but requests failed", 1},
		{[]string{"valid", "unjudged"}, "Not every run has a verdict", 1},
		{[]string{"unjudged", "unjudged"}, "The runs have no verdicts", 2},
		{[]string{"failed", "unjudged", "uncertain"}, "Not every run is valid", 3},
		{[]string{"valid", "cut"}, "Not every run is valid", 1},
	} {
		var runs []*runfiles.Run
		for _, name := range c.runs {
			runs = append(runs, made(t, summaries[name]))
		}
		b := &builder{}
		b.verdicts(runs, func(r *runfiles.Run) runPlace { return runPlace{name: r.Name} })
		if b.Verdict != c.want || len(b.Findings) != c.findings || (b.Level == "valid") != (c.findings == 0) {
			t.Errorf("%v: %s, %q, %s", c.runs, b.Verdict, b.Findings, b.Level)
		}
	}
}
