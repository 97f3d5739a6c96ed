package cli

import (
	"strings"
	"testing"
)

// TestValidateSummary: what a summary says against itself is told by its key, and a whole one passes.
func TestValidateSummary(t *testing.T) {
	const whole = `{"schema_version":"1.4","input_config":{},"was_cancelled":false,"error_summary":[{"count":2}],"error_request_count":{"unit":"requests","avg":2},` +
		`"request_latency":{"unit":"ms","avg":2,"p50":2,"min":1,"max":3}}`
	if got := validateSummary("s", []byte(whole)); got != nil {
		t.Errorf("a whole one: %q", got)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"p50":2`, `"p50":4`, "s: request_latency.max is 3, below p50 (4)"},
		{`"min":1`, `"min":2.5`, "s: request_latency.p50 is 2, below min (2.5)"},
		{`"avg":2,"p50"`, `"avg":"2","p50"`, "s: request_latency.avg: must be a number, got 2"},
		{`"count":2`, `"count":1`, "s: error_request_count is 2, the groups of error_summary count 1"},
		{`"count":2`, `"count":"2"`, "s: error_summary[0].count: must be a number"},
		{`"was_cancelled":false,`, ``, "s: was_cancelled: must be true or false"},
		{`"input_config":{}`, `"input_config":[]`, "s: input_config: must be an object"},
		{`[{"count":2}]`, `null`, "s: error_summary: must be a list"},
	} {
		if got := validateSummary("s", []byte(strings.Replace(whole, c.from, c.to, 1))); len(got) == 0 || got[0] != c.want {
			t.Errorf("%s: %q, want %q", c.to, got, c.want)
		}
	}
}
