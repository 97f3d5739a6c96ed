package servermetrics

import "slices"

// cacheCounters names a server's counters of its prefix cache: prompt tokens that were looked up, and those that were found. For histograms the sum
// counts.
type cacheCounters struct{ asked, found string }

// prefixCaches lists the counters of vLLM (v1/metrics/loggers.py; gpu_… in older versions), SGLang (metrics_collector.py) and Dynamo
// (prometheus_names.rs), without _total. The first pair that an endpoint has counts.
var prefixCaches = []cacheCounters{
	{"vllm:prefix_cache_queries", "vllm:prefix_cache_hits"},
	{"vllm:gpu_prefix_cache_queries", "vllm:gpu_prefix_cache_hits"},
	{"sglang:prompt_tokens", "sglang:cached_tokens"},
	{"dynamo_frontend_input_sequence_tokens", "dynamo_frontend_cached_tokens"},
}

// transferred counts the prompt tokens whose keys and values vLLM got from elsewhere: from another worker that computed them for the same request, or
// from a cache outside the server. Its usage counts both as cached.
const transferred = "vllm:external_prefix_cache_hits"

// CacheLookups is the growth of the servers' counters of their prefix cache in a window.
type CacheLookups struct {
	Name         string  // of the counter of found tokens
	Asked, Found float64 // prompt tokens
	Transferred  float64 // prompt tokens that came from another worker or an outside cache; not in Found
}

// CacheLookups returns the growth of the counters of the prefix cache; false = no server has them.
func (c *Collector) CacheLookups(w Window) (CacheLookups, bool) {
	r := c.store.Results(w, 0)
	for _, names := range prefixCaches {
		asked, ok := r.growth(names.asked)
		if !ok {
			continue
		}
		if found, ok := r.growth(names.found); ok {
			l := CacheLookups{Name: names.found, Asked: asked, Found: found}
			l.Transferred, _ = r.growth(transferred)
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
		return c.store.metrics[names.asked] != nil && c.store.metrics[names.found] != nil
	})
}

// growth returns how much a counter, or the sum of a histogram, grew over all series; false = it does not exist.
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
