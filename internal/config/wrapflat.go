package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// envelope are the top-level keys next to the body of a benchmark.
var envelope = []string{"schemaVersion", "random_seed", "benchmark", "sweep", "multi_run", "no_sweep_table", "tables", "variables", "plot", "machines", "fail_if", "junit", "fail_on_verdict", "allow_invalid"}

// wrapFlat wraps a flat file, whose body is at the top level, and reports whether it did.
func wrapFlat(root *yaml.Node) bool {
	if step(root, "benchmark") != nil || step(root, "endpoint") == nil {
		return false
	}
	body, top := mapping(), mapping()
	for i := 0; i+1 < len(root.Content); i += 2 {
		to := body
		if slices.Contains(envelope, root.Content[i].Value) {
			to = top
		}
		to.Content = append(to.Content, root.Content[i], root.Content[i+1])
	}
	if d := step(body, "dataset"); d != nil && d.Kind == yaml.MappingNode {
		ensure(d, "name", text("main"))
	}
	body.Line, top.Line = root.Line, root.Line
	add(top, "benchmark", body)
	*root = *top
	return true
}

// perfKeys are top-level keys of GenAI-Perf's files, which otherwise look like flat files.
var perfKeys = []string{"model_name", "model_names", "perf_analyzer", "analyze", "input", "output", "process"}

// genaiPerf reports whether a file belongs to GenAI-Perf.
func genaiPerf(root *yaml.Node) bool {
	return step(root, "benchmark") == nil && slices.ContainsFunc(perfKeys, func(key string) bool { return step(root, key) != nil })
}

// phaseAxes returns the keys of a profiling phase that a flag can sweep, and smoothness. In a file, each value of a list at such a key is a cell.
func phaseAxes() []string {
	axes := []string{"smoothness"}
	for _, row := range Rows() {
		if rest, ok := strings.CutPrefix(row.Key, "phases.profiling."); ok && row.Sweep {
			axes = append(axes, rest)
		}
	}
	return axes
}

// sweepLists converts the lists in profiling phases to a grid. The phase keeps the first value of each list.
func sweepLists(root *yaml.Node) error {
	body := step(root, "benchmark")
	if body == nil {
		return nil
	}
	phases := step(body, "phases")
	if phases == nil || phases.Kind != yaml.SequenceNode {
		return nil
	}
	axes := mapping()
	for _, p := range phases.Content {
		name, kind := step(p, "name"), step(p, "kind")
		if p.Kind != yaml.MappingNode || name == nil || kind == nil || kind.Value != string(KindProfiling) {
			continue
		}
		for _, key := range phaseAxes() {
			v := step(p, key)
			if v == nil || v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
				continue
			}
			if step(root, "sweep") != nil {
				return fmt.Errorf("line %d: %s holds a list and there is a sweep; put the list into sweep.parameters", v.Line, key)
			}
			values, first := *v, *v.Content[0]
			add(axes, "phases."+name.Value+"."+key, &values)
			*v = first
		}
	}
	if len(axes.Content) > 0 {
		sweep := pairs("parameters", axes)
		ensure(sweep, "type", text(string(SweepGrid)))
		ensure(sweep, "iteration_order", text("repeated"))
		add(root, "sweep", sweep)
	}
	return nil
}

// gpuWords maps the words that --gpu-telemetry takes besides addresses to the key and value in a file.
var gpuWords = map[string][2]string{"pynvml": {"collector", "pynvml"}, "amdsmi": {"collector", "amdsmi"}, "dashboard": {"mode", GPULive}}

// normalTelemetry reads the short forms of the two collectors: false means off, a word means the same as for the flag --gpu-telemetry, and other text
// is a URL.
func normalTelemetry(body *yaml.Node) {
	for _, key := range []string{"gpu_telemetry", "server_metrics"} {
		v := step(body, key)
		switch {
		case v == nil:
		case v.Kind == yaml.ScalarNode && v.ShortTag() == "!!bool":
			on := *v
			*v = *pairs("enabled", &on)
		case v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str":
			said := *v
			if word, ok := gpuWords[strings.ToLower(said.Value)]; ok && key == "gpu_telemetry" {
				said.Value = word[1]
				*v = *pairs(word[0], &said)
			} else {
				*v = *pairs("urls", &said)
				listed(step(v, "urls"))
			}
		case v.Kind == yaml.MappingNode:
			rename(v, "url", "urls")
			listed(step(v, "urls"))
		}
	}
}
