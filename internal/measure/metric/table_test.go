package metric

import (
	"os"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
)

// contract is the list of definitions that the table is made from.
type contract struct {
	Tag, Header, Unit string
	Display           string `json:"display_unit"`
	Kind              string
	ValueType         string `json:"value_type"`
	Flags             []string
	Group             string `json:"console_group"`
	Order             *int   `json:"console_order"`
	Larger            *bool  `json:"larger_is_better"`
	InRecords         bool   `json:"in_records_jsonl"`
	In013             string `json:"in_0_13"`
}

func contracts(t *testing.T) []contract {
	t.Helper()
	var list []contract
	testrecording.JSON(t, "testdata/metrics.json.gz", &list)
	return list
}

// elsewhere are metrics of the contract that other parts of the program give, or that need endpoints which have none of them.
func elsewhere(tag string) bool {
	for _, p := range []string{"credit_drop"} {
		if strings.HasPrefix(tag, p) {
			return true
		}
	}
	return false
}

// TestTable compares every definition with the contract.
func TestTable(t *testing.T) {
	var last int
	checked := 0
	for _, c := range contracts(t) {
		if c.In013 == "no" || elsewhere(c.Tag) {
			continue
		}
		m, ok := Lookup(c.Tag)
		if !ok {
			t.Errorf("%s is missing", c.Tag)
			continue
		}
		checked++
		if at := index[c.Tag]; at < last {
			t.Errorf("%s stands too early", c.Tag)
		} else {
			last = at
		}
		group, order, better := c.Group, 0, Neither
		if group == "none" {
			group = ""
		}
		if c.Order != nil {
			order = *c.Order
		}
		if c.Larger != nil {
			better = Smaller
			if *c.Larger {
				better = Larger
			}
		}
		if m.Header != c.Header || m.Unit != c.Unit || m.Display != c.Display || m.Group != group || m.Order != order || m.Better != better {
			t.Errorf("%s: %+v, not %+v", c.Tag, *m, c)
		}
		if in := c.InRecords || c.Tag == "good_request_count"; m.InRecords != in {
			t.Errorf("%s: in records %v, not %v", c.Tag, m.InRecords, in)
		}
		for _, f := range []struct {
			name string
			flag Flags
		}{
			{"STREAMING_ONLY", Streaming}, {"PRODUCES_TOKENS_ONLY", Tokens}, {"TOKENIZES_INPUT_ONLY", Input}, {"GOODPUT", Goodput}, {"HTTP_TRACE_ONLY", HTTPTrace},
			{"USAGE_DIFF_ONLY", UsageDiff}, {"ERROR_ONLY", ErrorOnly}, {"EXPERIMENTAL", Experimental}, {"INTERNAL", Internal}, {"SUPPORTS_IMAGE_ONLY", Image},
			{"SUPPORTS_AUDIO_ONLY", Audio}, {"FIXED_SCHEDULE_ONLY", Schedule}, {"PERCENTILE_INCLUDES_FAILED_REQUESTS", Adjusted},
		} {
			if c.Tag == "usage_completion_tokens" && f.flag == Tokens {
				continue // tokens that a server counts for a generated image are reported too, as the recorded answers of image generation have them
			}
			if slices.Contains(c.Flags, f.name) != (m.Flags&f.flag != 0) {
				t.Errorf("%s: flag %s", c.Tag, f.name)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d definitions compared", checked)
	}
}

// TestTableIsWhole: every definition can be computed and shown.
func TestTableIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for i := range table {
		m := &table[i]
		if seen[m.Tag] {
			t.Errorf("%s is defined twice", m.Tag)
		}
		seen[m.Tag] = true
		if m.Factor() == 0 {
			t.Errorf("%s: no way from %s to %s", m.Tag, m.Unit, m.Display)
		}
		switch m.Kind {
		case Record:
			if m.record == nil && !m.gaps {
				t.Errorf("%s: no computation", m.Tag)
			}
		case Derived:
			if m.derive == nil {
				t.Errorf("%s: no derivation", m.Tag)
			}
		case Adjustment:
			if of, ok := Lookup(m.base); !ok || of.Flags&Adjusted == 0 {
				t.Errorf("%s: adjusts %s", m.Tag, m.base)
			}
		}
	}
}

// TestOurMetricsAreListed: the page of differences names every metric that the contract does not have.
func TestOurMetricsAreListed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]bool{}
	for _, c := range contracts(t) {
		theirs[c.Tag] = true
	}
	ours := 0
	for _, m := range All() {
		if theirs[m.Tag] || m.Hidden() {
			continue
		}
		ours++
		if !strings.Contains(string(page), "`"+m.Tag+"`") {
			t.Errorf("docs/differences.md does not name %s", m.Tag)
		}
	}
	if ours == 0 {
		t.Error("no metric of our own was seen")
	}
}
