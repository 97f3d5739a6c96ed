package servermetrics

import (
	"math"
	"slices"

	"aiperf/internal/telemetry/exposition"
)

// Preset is a gauge that inference servers provide under different names.
type Preset struct {
	Key  string // in the timeline
	Mean bool   // combine label sets by their mean instead of their sum
	From []Source
}

// Source is one server's name of a gauge. Label and Value select the label sets if one metric holds several gauges; "" = all.
type Source struct{ Server, Name, Label, Value string }

// Queue, Running and Cache are the gauges that explain latencies. For an endpoint, the first source that it has counts. Names are from the sources of
// vLLM (v1/metrics/loggers.py; gpu_cache_usage_perc in older versions), SGLang 0.5.10 (metrics_collector.py), TensorRT-LLM (metrics/collector.py),
// Dynamo (prometheus_names.rs), Triton and its TensorRT-LLM backend (README, "Triton Metrics"), TGI (reference of its metrics), and from the page of a
// running llama.cpp server, where kv_cache_usage_ratio exists only in older builds. docs/servermetrics.md lists them.
var (
	Queue = &Preset{Key: "server_queue_length", From: []Source{
		{Server: "vLLM", Name: "vllm:num_requests_waiting"},
		{Server: "SGLang", Name: "sglang:num_queue_reqs"},
		{Server: "TensorRT-LLM", Name: "trtllm_num_requests_waiting"},
		{Server: "Dynamo", Name: "dynamo_frontend_queued_requests"},
		{Server: "Triton (TensorRT-LLM)", Name: "nv_trt_llm_request_metrics", Label: "request_type", Value: "waiting"},
		{Server: "Triton", Name: "nv_inference_pending_request_count"},
		{Server: "llama.cpp", Name: "llamacpp:requests_deferred"},
		{Server: "TGI", Name: "tgi_queue_size"},
	}}
	Running = &Preset{Key: "server_requests_running", From: []Source{
		{Server: "vLLM", Name: "vllm:num_requests_running"},
		{Server: "SGLang", Name: "sglang:num_running_reqs"},
		{Server: "TensorRT-LLM", Name: "trtllm_num_requests_running"},
		{Server: "Dynamo", Name: "dynamo_frontend_inflight_requests"},
		{Server: "Triton (TensorRT-LLM)", Name: "nv_trt_llm_request_metrics", Label: "request_type", Value: "active"},
		{Server: "llama.cpp", Name: "llamacpp:requests_processing"},
		{Server: "TGI", Name: "tgi_batch_current_size"},
		{Server: "aiperf mock-server", Name: "mock_requests_running"},
	}}
	Cache = &Preset{Key: "server_kv_cache_usage", Mean: true, From: []Source{
		{Server: "vLLM", Name: "vllm:kv_cache_usage_perc"},
		{Server: "vLLM", Name: "vllm:gpu_cache_usage_perc"},
		{Server: "SGLang", Name: "sglang:token_usage"},
		{Server: "TensorRT-LLM", Name: "trtllm_kv_cache_utilization"},
		{Server: "Triton (TensorRT-LLM)", Name: "nv_trt_llm_kv_cache_block_metrics", Label: "kv_cache_block_type", Value: "fraction"},
		{Server: "llama.cpp", Name: "llamacpp:kv_cache_usage_ratio"},
	}}
)

// Presets lists all of them, in the order of the timeline.
var Presets = []*Preset{Queue, Running, Cache}

// seriesOf returns the label sets of an endpoint for a preset.
func (s *Store) seriesOf(p *Preset, e *endpoint) (list []*series) {
	for _, from := range p.From {
		if s.metrics[from.Name] == nil {
			continue
		}
		for _, t := range e.series {
			if t.name == from.Name && t.kind != exposition.Histogram && (from.Label == "" || slices.Contains(t.labels, exposition.Label{Name: from.Label, Value: from.Value})) {
				list = append(list, t)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// PerSecond returns a preset's value by second since 1970: in each second the mean of the readings, over label sets and endpoints their sum or mean.
func (s *Store) PerSecond(p *Preset) map[int64]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	total, parts := map[int64]float64{}, map[int64]float64{}
	for _, e := range s.endpoints {
		for _, t := range s.seriesOf(p, e) {
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
	if p.Mean {
		for second := range total {
			total[second] /= parts[second]
		}
	}
	return total
}

// Latest returns the latest value of a preset: over label sets and endpoints their sum or mean.
func (s *Store) Latest(p *Preset) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total, n := 0.0, 0.0
	for _, e := range s.endpoints {
		for _, t := range s.seriesOf(p, e) {
			if t.value.Len() == 0 {
				continue
			}
			if v := t.value.At(t.value.Len() - 1); !math.IsNaN(v) {
				total, n = total+v, n+1
			}
		}
	}
	if p.Mean && n > 0 {
		total /= n
	}
	return total, n > 0
}

// PerSecond is Store.PerSecond for the collector's readings.
func (c *Collector) PerSecond(p *Preset) map[int64]float64 { return c.store.PerSecond(p) }

// Latest is Store.Latest for the collector's readings.
func (c *Collector) Latest(p *Preset) (float64, bool) { return c.store.Latest(p) }
