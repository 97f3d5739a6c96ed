package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// processKeys are keys that configure processes of the Python tool, by their place in the body. This tool has no such processes.
var processKeys = map[string]string{
	"runtime.workers_min":               "one process carries every connection",
	"runtime.service_run_type":          "there is one process, and no pods",
	"runtime.workers_per_pod":           "there are no pods",
	"runtime.record_processors_per_pod": "there are no pods",
	"runtime.dataset_api_base_url":      "there are no pods that fetch a dataset",
}

// busKeys are the keys of runtime.communication.
var busKeys = []string{
	"records_port", "credit_router_port", "control_port", "credit_return_push_pull_port", "event_bus_proxy", "dataset_manager_proxy", "raw_inference_proxy", "ipc_path",
	"tcp_host", "controller_host",
}

// modeOf returns the Python tool's timing mode for a type of phase.
func modeOf(phaseType string) string {
	switch PhaseType(phaseType) {
	case PhaseUserCentric:
		return "user_centric_rate"
	case PhaseFixedSchedule:
		return "fixed_schedule"
	}
	return "request_rate"
}

// dropIdle removes keys of the Python tool that have no effect here, and returns a note for each. It removes keys that only state the default
// behaviour without a note.
func dropIdle(root *yaml.Node) (notes []string) {
	body := step(root, "benchmark")
	if body == nil || body.Kind != yaml.MappingNode {
		return nil
	}
	drop := func(n *yaml.Node, path, key, why string) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		line := lineOf(n, key)
		if v := removeKey(n, key); v != nil && v.ShortTag() != "!!null" {
			notes = append(notes, fmt.Sprintf("%d: benchmark.%s.%s has no effect: %s", line, path, key, why))
		}
	}
	runtime := step(body, "runtime")
	for _, path := range slices.Sorted(maps.Keys(processKeys)) {
		drop(runtime, "runtime", strings.TrimPrefix(path, "runtime."), processKeys[path])
	}
	if runtime != nil && runtime.Kind == yaml.MappingNode {
		for _, key := range busKeys {
			drop(step(runtime, "communication"), "runtime.communication", key, "there is no message bus inside one process")
		}
	}
	if m := step(body, "models"); m != nil {
		for i, item := range entries(step(m, "items")) {
			drop(item, fmt.Sprintf("models.items[%d]", i), "modalities", "the dataset decides what is sent")
		}
	}
	dropEmpty(body, "metrics")
	for _, p := range entries(step(body, "phases")) {
		dropImpliedTiming(p)
	}
	return notes
}

// dropEmpty removes a section without keys.
func dropEmpty(body *yaml.Node, key string) {
	if m := step(body, key); m != nil && len(m.Content) == 0 && (m.Kind == yaml.MappingNode || m.ShortTag() == "!!null") {
		removeKey(body, key)
	}
}

// dropImpliedTiming removes the timing mode of a phase if it only repeats what the type implies.
func dropImpliedTiming(p *yaml.Node) {
	if p.Kind == yaml.MappingNode {
		v, t := step(p, "timing_mode"), step(p, "type")
		if v != nil && (v.ShortTag() == "!!null" || t != nil && v.Value == modeOf(t.Value)) {
			removeKey(p, "timing_mode")
		}
	}
}

// lineOf returns the line of a key of a mapping; 0 if it has no such key.
func lineOf(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i].Line
		}
	}
	return 0
}
