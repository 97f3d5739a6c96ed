package cli

import (
	"strings"
	"testing"
)

// TestFirstMistakes: each mistake gets one error, with what to write.
func TestFirstMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"profile mock://", `"mock://" is not a flag; write --url mock://`},
		{"profile --url mock:// --request-rate 5 --user-centric-rate 3 --num-users 2", "--user-centric-rate and --request-rate: give one of them"},
		{"profile --url mock:// --goodput ttft", `--goodput: "ttft" has no limit; write METRIC<VALUE, for example ttft<200ms`},
		{"compare one", "compare needs the directories of two runs, not 1; write aiperf compare BEFORE AFTER, or --with for several runs on a side"},
		{"report missing", "report: no such file or directory: missing"},
		{"validate missing", "--input: no such file or directory: missing"},
	} {
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		if status := Main(t.Context(), p, strings.Fields(c.line)); status != 1 || errs.String() != "error: "+c.want+"\n" {
			t.Errorf("%s: status %d, %q, want %q", c.line, status, errs.String(), c.want)
		}
	}
}
