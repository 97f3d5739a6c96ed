package comparison

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
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
		{[]Run{cold}, []Run{warm}, "B used a warm prefix cache and A a cold one", ""},
		{[]Run{warm}, []Run{shared}, "A used a warm prefix cache and B a cold one", ""},
		{[]Run{cold}, []Run{shared}, "", ""},
		{[]Run{warm}, []Run{warmer}, "", ""},
		{[]Run{unknown}, []Run{warm}, "", "the cache state of A is unknown"},
		{[]Run{cold, warm}, []Run{warmer, shared}, "", ""},
		{[]Run{cold, shared}, []Run{warmer, warm}, "B used a warm prefix cache", ""},
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
	if err != nil || lineOf(t, r, "request_latency", "mean").Reason != "only one side used a warm prefix cache" || r.Outcome != Cannot {
		t.Errorf("%+v %v", r, err)
	}
}

// TestPairsOnWarmCaches: pairs of which one side used a warm cache are judged, for either side is as often the second, and a note names them.
func TestPairsOnWarmCaches(t *testing.T) {
	a, b := blocks(6, 400, 1)
	warm := metric.CacheUse{CacheSource: "usage", CacheReported: 92, CacheExpectedMax: 8}
	b[1].Cache, a[4].Cache = warm, warm
	a[5].Cache, b[5].Cache = warm, warm
	r, err := Pairs(a, b, usual, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := "only one side used a warm prefix cache in 2 of 6 pairs (2, 5)"; !slices.Contains(r.Notes, want) || r.Refused != "" || len(r.A) != 6 {
		t.Errorf("%q, refused %q, %d pairs", r.Notes, r.Refused, len(r.A))
	}
	if l := lineOf(t, r, "request_latency", "mean"); l.Reason != "" {
		t.Errorf("not judged: %s", l.Reason)
	}
}
