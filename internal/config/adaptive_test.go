package config

import (
	"slices"
	"strings"
	"testing"
)

// TestConditionsOfAPhase: the mapping of metrics gives one condition for each metric, statistic and operator, in their order.
func TestConditionsOfAPhase(t *testing.T) {
	head := "benchmark:\n  model: m\n  endpoint: {url: 'http://h:1', streaming: true}\n  dataset: {type: synthetic}\n" +
		"  phases: {type: concurrency, concurrency: 1, duration: 60, adaptive_scale: {control: {variable: concurrency, min: 1, max: 8}}, sla: "
	run, err := loaded(t, head+"{time_to_first_token: {p95: {lt: 200}, avg: {lt: 90, gt: 1}}, request_latency: {p99: {le: 900}}}}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []SLAFilter{
		{"time_to_first_token", "p95", "lt", 200}, {"time_to_first_token", "avg", "lt", 90}, {"time_to_first_token", "avg", "gt", 1}, {"request_latency", "p99", "le", 900},
	}
	if got := run.Profiling().SLA; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for text, want := range map[string]string{"{request_latency: 9}}": "request_latency has no statistics", "{request_latency: {p99: 9}}}": "request_latency p99 has no operators"} {
		if _, err := loaded(t, head+text+"\n", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
