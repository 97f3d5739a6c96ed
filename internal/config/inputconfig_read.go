package config

import "fmt"

// ReadInputConfig reads what InputConfig wrote: a benchmark whose values are those of the run, and the defaults where nothing was set. Keys
// that are not known are ignored, what was masked stays so. The benchmark has one dataset and one phase at least.
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
		return nil, fmt.Errorf("input_config: %w", plainer(err))
	}
	if len(run.Datasets) == 0 || len(run.Phases) == 0 {
		return nil, fmt.Errorf("input_config has no dataset or no phase")
	}
	return &run.Benchmark, nil
}
