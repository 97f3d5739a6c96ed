package config

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// alwaysShown are the values that the input configuration contains even if they equal the defaults.
var alwaysShown = map[string]bool{
	"models.items": true, "models.items.name": true,
	"endpoint.urls": true, "endpoint.type": true, "endpoint.streaming": true,
	"datasets.name": true, "datasets.type": true, "datasets.entries": true, "datasets.prompts.isl.mean": true, "datasets.prompts.osl.mean": true,
	"phases.name": true, "phases.kind": true, "phases.type": true,
	"artifacts.dir": true, "artifacts.records": true, "artifacts.raw": true, "artifacts.auto_plot": true, "artifacts.plot_required": true,
	"tokenizer.name": true, "gpu_telemetry.enabled": true,
	"server_metrics.enabled": true, "server_metrics.urls": true, "server_metrics.formats": true,
	"network_latency.enabled": true, "runtime.ui": true,
}

// sections are the parts of the input configuration, in order. Each is present even if none of its values was set.
var sections = []string{
	"models", "endpoint", "datasets", "phases", "artifacts", "slos", "tokenizer", "gpu_telemetry", "server_metrics", "network_latency",
	"otel", "mlflow", "wandb", "runtime", "accuracy", "environment",
}

// optionalSections are omitted if none of their values was set.
var optionalSections = map[string]bool{"slos": true, "accuracy": true, "environment": true}

// InputConfig returns the effective configuration for the summary: compact JSON in the order of the file layout, with masked secrets. It contains the
// values that were set, and a few others.
func (r *Run) InputConfig() ([]byte, error) {
	whole, err := r.node()
	if err != nil {
		return nil, err
	}
	plain := Default()
	plain.Phases = []Phase{{}}
	defaults, err := plain.node()
	if err != nil {
		return nil, err
	}
	have, usual := step(whole, "benchmark"), step(defaults, "benchmark")
	out := mapping()
	for _, name := range sections {
		n := step(have, name)
		if n == nil {
			continue
		}
		kept := prune(n, step(usual, name), name)
		if kept == nil && !optionalSections[name] {
			kept = mapping()
		}
		if kept != nil {
			add(out, name, kept)
		}
	}
	return appendJSON(nil, out)
}

// prune returns the parts of a tree that differ from the defaults or are always shown; nil if there are none.
func prune(n, usual *yaml.Node, path string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		out := mapping()
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			var u *yaml.Node
			if usual != nil {
				u = step(usual, key)
			}
			if kept := prune(value, u, path+"."+key); kept != nil {
				add(out, key, kept)
			}
		}
		if len(out.Content) == 0 && !alwaysShown[path] {
			return nil
		}
		return out
	case yaml.SequenceNode:
		if len(n.Content) == 0 || n.Content[0].Kind != yaml.MappingNode {
			break
		}
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i, entry := range n.Content {
			var u *yaml.Node
			if usual != nil && len(usual.Content) > 0 {
				u = usual.Content[min(i, len(usual.Content)-1)]
			}
			kept := prune(entry, u, path)
			if kept == nil {
				kept = mapping()
			}
			out.Content = append(out.Content, kept)
		}
		return out
	}
	if !alwaysShown[path] && usual != nil && same(n, usual) {
		return nil
	}
	return n
}

// same reports whether two values have the same text.
func same(a, b *yaml.Node) bool {
	x, errX := appendJSON(nil, a)
	y, errY := appendJSON(nil, b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// StateRequests adds the number of requests to the phases of an input configuration without a stop condition, by the name of the phase. The number of
// problems of a benchmark is known only once it is read.
func StateRequests(text []byte, requests map[string]int64) ([]byte, error) {
	root, err := inputNode(text)
	if err != nil || len(requests) == 0 {
		return text, err
	}
	for _, p := range step(root, "phases").Content {
		n, some := requests[step(p, "name").Value]
		if some && step(p, "requests") == nil && step(p, "sessions") == nil && step(p, "duration") == nil {
			add(p, "requests", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(n, 10)})
		}
	}
	return appendJSON(nil, root)
}
