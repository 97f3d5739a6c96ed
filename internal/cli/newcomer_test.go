package cli

import (
	"strings"
	"testing"
)

// TestFirstMistakes: each mistake gets one error, with what to write.
func TestFirstMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"profile mock://", `"mock://" is not a flag; write --url mock://`},
		{"profile --url mock:// --streaming yes", `unexpected word "yes": a flag that is on or off, such as --streaming, takes no word after it. Write --streaming or --streaming=false; a model of this name is --model yes`},
		{"profile --url mock:// --request-rate 5 --user-centric-rate 3 --num-users 2", "--user-centric-rate and --request-rate: give one of them"},
		{"profile --url mock:// --goodput ttft", `--goodput: "ttft" has no limit; write METRIC<VALUE, for example ttft<200ms`},
		{"compare one", "compare needs the directories of two runs, not 1; write aiperf compare BEFORE AFTER, or --with for several runs on a side"},
		{"compare", "compare needs the directories of two runs, not 0; write aiperf compare BEFORE AFTER, or --with for several runs on a side"},
		{"compare missing missing", "missing does not exist"},
		{"dataset convert one", "dataset convert has 1 argument; write aiperf dataset convert FROM TO [flags]"},
		{"profile --url mock:// --goodput lateny<2s", `--goodput: "lateny<2s": there is no metric lateny; did you mean latency?`},
		{"report missing", "missing does not exist"},
		{"validate missing", "missing does not exist"},
		{"merge missing missing", "missing does not exist"},
		{"explain missing", "missing does not exist"},
		{"plot missing", "missing does not exist"},
		{"support-bundle missing", "missing does not exist"},
		{"analyze-trace missing", "missing does not exist"},
		{"analyze swim-lane missing", "missing does not exist"},
	} {
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		if status := Main(t.Context(), p, strings.Fields(c.line)); status != 1 || errs.String() != "error: "+c.want+"\n" {
			t.Errorf("%s: status %d, %q, want %q", c.line, status, errs.String(), c.want)
		}
	}
}
