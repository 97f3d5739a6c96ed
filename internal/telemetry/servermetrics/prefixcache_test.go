package servermetrics

import (
	"fmt"
	"strings"
	"testing"
)

// TestCacheLookups: the counters of each server, from the reading before the window on; an endpoint without them reports nothing.
func TestCacheLookups(t *testing.T) {
	page := func(asked, found string) func(a, f float64) string {
		return func(a, f float64) string {
			text := "# TYPE other gauge\nother 1\n"
			for _, one := range []struct {
				name string
				v    float64
			}{{asked, a}, {found, f}} {
				if name, histogram := strings.CutPrefix(one.name, "histogram "); histogram {
					text += fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_bucket{le=\"+Inf\"} %[2]g\n%[1]s_sum %[3]g\n%[1]s_count %[2]g\n", name, one.v/10, one.v)
					continue
				}
				text += fmt.Sprintf("# TYPE %[1]s counter\n%[1]s{engine=\"0\"} %[2]g\n%[1]s{engine=\"1\"} %[2]g\n", one.name, one.v/2)
			}
			return text
		}
	}
	for name, p := range map[string]func(a, f float64) string{
		"vllm:prefix_cache_hits":        page("vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"),
		"vllm:gpu_prefix_cache_hits":    page("vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_hits_total"),
		"sglang:cached_tokens":          page("sglang:prompt_tokens_total", "sglang:cached_tokens_total"),
		"dynamo_frontend_cached_tokens": page("histogram dynamo_frontend_input_sequence_tokens", "histogram dynamo_frontend_cached_tokens"),
		"":                              page("a_total", "b_total"),
	} {
		c := &Collector{store: told(p(100, 90), p(1000, 100), p(3000, 1500))}
		l, ok := c.CacheLookups(Window{15e8, 4e9})
		if ok != (name != "") || c.CountsCache() != ok || ok && (l != CacheLookups{Name: name, Asked: 2900, Found: 1410}) {
			t.Errorf("%q: %+v %t, has counters %t", name, l, ok, c.CountsCache())
		}
	}
	worker := func(v float64) string {
		return fmt.Sprintf("# TYPE %[2]s_total counter\n%[2]s_total %[1]g\n", v, transferred) + page("vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total")(v, 0)
	}
	c := &Collector{store: told(worker(0), worker(500))}
	if l, _ := c.CacheLookups(Window{15e8, 4e9}); l.Transferred != 500 || l.Found != 0 {
		t.Errorf("tokens from another worker: %+v", l)
	}
}
