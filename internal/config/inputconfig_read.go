package config

import "fmt"

// ReadInputConfig reads the result of InputConfig: a benchmark with the values of the run, and defaults for unset values. It ignores unknown keys and
// does not restore masked values. The benchmark has at least one dataset and one phase.
func ReadInputConfig(text []byte) (*Benchmark, error) {
	input, err := inputNode(text)
	if err != nil {
		return nil, err
	}
	root := mapping()
	add(root, "benchmark", input)
	snake(root)
	if _, err := normalise(root); err != nil {
		return nil, fmt.Errorf("input_config: %w", err)
	}
	run := Default()
	if err := root.Decode(run); err != nil {
		return nil, fmt.Errorf("input_config: %w", plainYAMLError(err))
	}
	if len(run.Datasets) == 0 || len(run.Phases) == 0 {
		return nil, fmt.Errorf("input_config has no dataset or no phase")
	}
	return &run.Benchmark, nil
}
