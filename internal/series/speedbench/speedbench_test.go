package speedbench

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
)

// report is one call of the Python tool 0.13 and what it wrote; Ours is where the contract overrules it.
type report struct {
	Name, Metric   string
	Paths          []string
	Exit           int
	Stdout, Stderr string
	CSV            *string
	Ours           *struct{ CSV *string }
}

// TestRecordedReports makes the tables that the Python tool made of the same runs.
func TestRecordedReports(t *testing.T) {
	cases := testrecording.Lines[report](t, "testdata/cases.jsonl.gz")
	t.Chdir("testdata/in")
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			var said strings.Builder
			warn := func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
			metric := Metric(c.Metric)
			if metric == "" {
				metric = Length
			}
			runs, err := Runs(c.Paths, warn)
			var table *Table
			if err == nil {
				table, err = Build(runs, metric, warn)
			}
			if (err != nil) != (c.Exit != 0) || err != nil && !strings.Contains(c.Stderr, "Error: "+err.Error()+".") {
				t.Fatalf("%v, want %q", err, c.Stderr)
			}
			if err != nil {
				return
			}
			want := c.CSV
			if c.Ours != nil {
				want = c.Ours.CSV
			}
			if want != nil && table.CSV() != *want {
				t.Errorf("%q, want %q", table.CSV(), *want)
			}
			if c.Ours != nil != strings.Contains(said.String(), "the later one") && !strings.HasPrefix(c.Name, "dup") {
				t.Errorf("said %q", said.String())
			}
		})
	}
}

// TestUnknownServers: a metric of a server that nobody knows counts if its name tells what it is; counters without drafts give nothing.
func TestUnknownServers(t *testing.T) {
	for text, want := range map[string]string{
		`{"metrics":{"x:Spec_Accept_mean_Length":{"series":[{"stats":{"avg":2.5}}]}}}`:                                                                             "2.5",
		`{"metrics":{"x:request_acceptance_length":{"series":[{"stats":{"avg":2.5}}]}}}`:                                                                           "NaN",
		`{"metrics":{"vllm:spec_decode_num_accepted_tokens":{"series":[{"stats":{"total":4}}]},"vllm:spec_decode_num_drafts":{"series":[{"stats":{"total":0}}]}}}`: "NaN",
		`{"metrics":{"sglang:spec_accept_length":{"series":[]}}}`:                                                                                                  "NaN",
		`{"metrics":[]}`: "NaN",
		`{}`:             "NaN",
	} {
		m, err := readServer([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := fmt.Sprint(m.length()); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if _, err := readServer([]byte("{")); err == nil {
		t.Error("a broken file is none")
	}
}
