package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ReadInputConfig reads what InputConfig wrote: a benchmark whose values are those of the run, and the defaults where nothing was set. Keys
// that are not known are ignored, what was masked stays so. The benchmark has one dataset and one phase at least.
func ReadInputConfig(text []byte) (*Benchmark, error) {
	var doc yaml.Node // JSON is YAML
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("input_config: %w", plainer(err))
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("input_config is no object")
	}
	root := mapping()
	add(root, "benchmark", doc.Content[0])
	snake(root)
	if _, err := normalise(root); err != nil {
		return nil, fmt.Errorf("input_config: %w", err)
	}
	run := Default()
	if err := root.Decode(run); err != nil {
		return nil, fmt.Errorf("input_config: %w", plainer(err))
	}
	if len(run.Datasets) == 0 || len(run.Phases) == 0 {
		return nil, fmt.Errorf("input_config has no dataset or no phase")
	}
	return &run.Benchmark, nil
}
