package servermetrics

import (
	"math"

	"aiperf/internal/exposition"
)

// Preset is a gauge that inference servers have under names of their own.
type Preset struct {
	Key   string   // in the timeline
	Names []string // of the metric, by server
	Mean  bool     // of several label sets the mean counts, else the sum
}

// Presets are the gauges that explain latencies. Names: the documentation of vLLM, SGLang, Dynamo, Triton, llama.cpp and TGI; TensorRT-LLM's are
// those of its metrics collector.
var Presets = []Preset{
	{Key: "server_queue_length", Names: []string{
		"vllm:num_requests_waiting", "sglang:num_queue_reqs", "trtllm_num_requests_waiting", "dynamo_frontend_queued_requests", "nv_inference_pending_request_count",
		"llamacpp:requests_deferred", "tgi_queue_size",
	}},
	{Key: "server_requests_running", Names: []string{
		"vllm:num_requests_running", "sglang:num_running_reqs", "trtllm_num_requests_running", "dynamo_frontend_inflight_requests", "llamacpp:requests_processing",
		"tgi_batch_current_size", "mock_requests_running",
	}},
	{Key: "server_kv_cache_usage", Mean: true, Names: []string{
		"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage", "trtllm_kv_cache_utilization", "llamacpp:kv_cache_usage_ratio",
	}},
}

// PerSecond is a preset's value of every second since 1970 that has one: in each second the mean of the readings, over label sets and endpoints
// their sum or mean.
func (s *Store) PerSecond(p *Preset) map[int64]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range p.Names {
		if s.metrics[name] != nil {
			return s.perSecond(name, p.Mean)
		}
	}
	return nil
}

func (s *Store) perSecond(name string, mean bool) map[int64]float64 {
	total, parts := map[int64]float64{}, map[int64]float64{}
	for _, e := range s.endpoints {
		for _, t := range e.series {
			if t.name != name || t.kind == exposition.Histogram {
				continue
			}
			sum, n := map[int64]float64{}, map[int64]float64{}
			for i := range t.value.Len() {
				if v := t.value.At(i); !math.IsNaN(v) {
					sum[e.at[i]/1e9] += v
					n[e.at[i]/1e9]++
				}
			}
			for second := range sum {
				total[second] += sum[second] / n[second]
				parts[second]++
			}
		}
	}
	if mean {
		for second := range total {
			total[second] /= parts[second]
		}
	}
	return total
}

// PerSecond is Store.PerSecond of what the collector read.
func (c *Collector) PerSecond(p *Preset) map[int64]float64 { return c.store.PerSecond(p) }
