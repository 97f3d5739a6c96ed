// Package plots makes charts of finished runs: it reads the settings file, draws the presets, and reports missing data.
package plots

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/suggest"
	"aiperf/internal/report/runfiles"
)

// Default is the shipped settings file, with comments for people who copy it.
//
//go:embed default.yaml
var Default []byte

// Config is a settings file.
type Config struct {
	File     string // for messages
	Multi    Section
	Single   Section
	Sampling Sampling
	Classes  *Classes // nil = runs are not classified
}

// Section holds the presets of a mode and which of them are drawn.
type Section struct {
	mode     string // multi_run, single_run
	Defaults []string
	plots    map[string]yaml.Node
}

// Sampling selects how points of server metrics are thinned out.
type Sampling struct {
	Enabled bool    `yaml:"enabled"`
	Seconds float64 `yaml:"window_size_seconds"`
	Method  string  `yaml:"aggregation_method"` // mean, max, min, median
}

// ParseConfig reads a settings file. Only listed presets must be valid; others are not checked.
func ParseConfig(text []byte, file string) (*Config, error) {
	c := &Config{File: file, Sampling: Sampling{Enabled: true, Seconds: 5, Method: "mean"}}
	var top yaml.Node
	if err := yaml.Unmarshal(text, &top); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if top.Kind != yaml.DocumentNode || top.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: must be a mapping with the key visualization", file)
	}
	var in struct {
		Visualization *struct {
			MultiDefaults  []string             `yaml:"multi_run_defaults"`
			SingleDefaults []string             `yaml:"single_run_defaults"`
			Multi          map[string]yaml.Node `yaml:"multi_run_plots"`
			Single         map[string]yaml.Node `yaml:"single_run_plots"`
		} `yaml:"visualization"`
		Settings struct {
			Sampling yaml.Node `yaml:"server_metrics_downsampling"`
		} `yaml:"settings"`
		Classes *Classes `yaml:"experiment_classification"`
	}
	if err := top.Decode(&in); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if in.Visualization == nil {
		return nil, fmt.Errorf("%s: must be a mapping with the key visualization", file)
	}
	c.Multi = Section{"multi_run", in.Visualization.MultiDefaults, in.Visualization.Multi}
	c.Single = Section{"single_run", in.Visualization.SingleDefaults, in.Visualization.Single}
	if !in.Settings.Sampling.IsZero() {
		if err := in.Settings.Sampling.Decode(&c.Sampling); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if s := c.Sampling; !(s.Seconds > 0) || !slices.Contains([]string{"mean", "max", "min", "median"}, s.Method) {
		return nil, fmt.Errorf("%s: server_metrics_downsampling: window_size_seconds must be above 0, got %g; aggregation_method must be mean, max, min or median, got %q", file, s.Seconds, s.Method)
	}
	if c.Classes = in.Classes; c.Classes != nil {
		if err := c.Classes.check(); err != nil {
			return nil, fmt.Errorf("%s: experiment_classification: %w", file, err)
		}
	}
	return c, nil
}

// Listed returns the presets that a section draws, in its order.
func (c *Config) Listed(s *Section) ([]*Preset, error) {
	var list []*Preset
	for _, name := range s.Defaults {
		p, err := c.Preset(s, name)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Preset returns a preset of a section by its name.
func (c *Config) Preset(s *Section, name string) (*Preset, error) {
	node, ok := s.plots[name]
	if !ok {
		near := ""
		if n := suggest.Name(name, slices.Collect(maps.Keys(s.plots))); n != "" {
			near = "; did you mean " + n + "?"
		}
		return nil, fmt.Errorf("%s: %s_defaults lists %s, which %s_plots does not define%s", c.File, s.mode, name, s.mode, near)
	}
	p, err := parsePreset(name, &node, s.mode == "multi_run")
	if err != nil {
		return nil, fmt.Errorf("Config validation failed for %s plot '%s'. Check the configuration file at %s: %w", s.mode, name, c.File, err)
	}
	return p, nil
}

// fold joins the names of a list for a message.
func fold(names []string) string { return strings.Join(names, ", ") }

// GenAIPerf lists the presets that draw the plots of GenAI-Perf.
var GenAIPerf = []string{
	"time_to_first_token", "request_latency", "distribution_of_input_sequence_lengths_to_output_sequence_lengths",
	"time_to_first_token_vs_input_sequence_lengths", "token_to_token_latency_vs_output_token_position",
}

// Settings returns a preset's keys as in the file; nil = no such preset.
func (s *Section) Settings(name string) map[string]any {
	node, ok := s.plots[name]
	var out map[string]any
	if !ok || node.Decode(&out) != nil {
		return nil
	}
	return out
}

// Custom reads a preset from the text of its keys, YAML or JSON.
func Custom(name string, text []byte, multi bool) (*Preset, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return nil, err
	}
	if node.Kind != yaml.DocumentNode || node.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the settings of a plot must be a mapping")
	}
	return parsePreset(name, node.Content[0], multi)
}

// Statistics returns the statistics that settings may name.
func Statistics() []string { return statKeys }

// Category is a group of related types of plots.
type Category struct {
	Name  string
	Types []string
}

// Types returns the types of plots of a mode by category; types without one are in "Other".
func Types(multi bool) []Category {
	left := typeNames(multi)
	var list []Category
	for _, c := range categories {
		one := Category{Name: c.Name}
		for _, name := range c.types {
			if k := slices.Index(left, name); k >= 0 && multi == (c.Name == "Comparison") {
				one.Types = append(one.Types, name)
				left = slices.Delete(left, k, k+1)
			}
		}
		if one.Types != nil {
			list = append(list, one)
		}
	}
	if len(left) > 0 {
		list = append(list, Category{"Other", left})
	}
	return list
}

// Experiment returns the group of a run in a classification; "" without one.
func (c *Config) Experiment(run *runfiles.Run) string {
	if c.Classes == nil {
		return ""
	}
	_, group := c.Classes.class(run)
	return group
}
