package comparison

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWarmAgainstCold: a run on a warm prefix cache is not judged against one on a cold cache; two warm runs are, and a cache of which nothing is known is noted.
func TestWarmAgainstCold(t *testing.T) {
	n := 0
	run := func(source string, reported, most float64) Run {
		n++
		verdict := "valid"
		if source != "" && reported-most >= 10 {
			verdict = "uncertain"
		}
		return loaded(t, summaries(t, filepath.Join(t.TempDir(), "run"), fmt.Sprintf(
			`{"benchmark_id":"%d","validity":{"verdict":%q,"prompt_cache_source":%q,"prompt_cache_reported_percent":%g,"prompt_cache_expected_max_percent":%g}}`, n, verdict, source, reported, most)), 0)
	}
	cold, shared, warm, warmer, unknown := run("usage", 0, 8), run("usage", 90, 95), run("usage", 92, 8), run("vllm:prefix_cache_hits", 99, 8), run("", 0, 0)
	for _, c := range []struct {
		a, b    []Run
		refused string
		note    string
	}{
		{[]Run{cold}, []Run{warm}, "B met a warm prefix cache and A a cold one", ""},
		{[]Run{warm}, []Run{shared}, "A met a warm prefix cache and B a cold one", ""},
		{[]Run{cold}, []Run{shared}, "", ""},
		{[]Run{warm}, []Run{warmer}, "", ""},
		{[]Run{unknown}, []Run{warm}, "", "of the cache of A nothing is known"},
		{[]Run{cold, warm}, []Run{warmer, shared}, "", ""},
		{[]Run{cold, shared}, []Run{warmer, warm}, "B met a warm prefix cache", ""},
	} {
		r, err := Compare(c.a, c.b, usual)
		if c.refused == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.refused) ||
			!strings.Contains(err.Error(), "another --random-seed, with --cache-bust or --reset-kv-cache, or add --allow-invalid")) {
			t.Errorf("want %q: %v", c.refused, err)
		}
		if err == nil && c.note != "" && !slices.ContainsFunc(r.Notes, func(text string) bool { return strings.Contains(text, c.note) }) {
			t.Errorf("want %q: %q", c.note, r.Notes)
		}
	}
	shown := usual
	shown.Invalid = true
	r, err := Compare([]Run{cold}, []Run{warm}, shown)
	if err != nil || lineOf(t, r, "request_latency", "mean").Reason != "only one side met a warm prefix cache" || r.Outcome != Cannot {
		t.Errorf("%+v %v", r, err)
	}
}
