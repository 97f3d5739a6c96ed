package servermetrics

import "slices"

// cacheCounters are a server's counters of its prefix cache: prompt tokens that were looked up, and those that were found. Histograms count by their sum.
type cacheCounters struct {
	asked string
	found []string
}

// prefixCaches are the counters of vLLM (v1/metrics/loggers.py; gpu_… in older ones, external_… for a cache beside the server's), SGLang
// (metrics_collector.py) and Dynamo (prometheus_names.rs), without _total. The first whose name an endpoint has counts.
var prefixCaches = []cacheCounters{
	{"vllm:prefix_cache_queries", []string{"vllm:prefix_cache_hits", "vllm:external_prefix_cache_hits"}},
	{"vllm:gpu_prefix_cache_queries", []string{"vllm:gpu_prefix_cache_hits"}},
	{"sglang:prompt_tokens", []string{"sglang:cached_tokens"}},
	{"dynamo_frontend_input_sequence_tokens", []string{"dynamo_frontend_cached_tokens"}},
}

// CacheLookups is what the servers' counters of their prefix cache grew by in a window.
type CacheLookups struct {
	Name         string  // of the counter of what was found
	Asked, Found float64 // prompt tokens
}

// CacheLookups returns what the counters of the prefix cache grew by; false = no server has them.
func (c *Collector) CacheLookups(w Window) (CacheLookups, bool) {
	r := c.store.Results(w, 0)
	for _, names := range prefixCaches {
		asked, ok := r.growth(names.asked)
		if !ok {
			continue
		}
		l := CacheLookups{Name: names.found[0], Asked: asked}
		known := false
		for _, name := range names.found {
			found, ok := r.growth(name)
			l.Found += found
			known = known || ok
		}
		if known {
			return l, true
		}
	}
	return CacheLookups{}, false
}

// CountsCache reports whether a server has counters of its prefix cache.
func (c *Collector) CountsCache() bool {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return slices.ContainsFunc(prefixCaches, func(names cacheCounters) bool {
		return c.store.metrics[names.asked] != nil && slices.ContainsFunc(names.found, func(name string) bool { return c.store.metrics[name] != nil })
	})
}

// growth is by how much a counter, or the sum of a histogram, grew over all series; false = there is none.
func (r *Results) growth(name string) (sum float64, ok bool) {
	for i := range r.Metrics {
		if r.Metrics[i].Name != name {
			continue
		}
		for _, s := range r.Metrics[i].Series {
			for _, stat := range s.Stats {
				if stat.Key == "total" || stat.Key == "sum" || stat.Key == "count" && stat.Value == 0 {
					sum, ok = sum+stat.Value, true
				}
			}
		}
	}
	return sum, ok
}
