package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Distribution is a random quantity (spec: config, section 3.4). A plain number in a file is a fixed value.
type Distribution struct {
	Value  *float64
	Mean   *float64
	Median *float64
	Stddev *float64
	Min    *float64
	Max    *float64
}

// Normal returns the normal distribution of a mean and a standard deviation.
func Normal(mean, stddev float64) *Distribution { return &Distribution{Mean: &mean, Stddev: &stddev} }

// MeanOr returns the mean, or what stands in for it, or def for a nil distribution.
func (d *Distribution) MeanOr(def float64) float64 {
	switch {
	case d == nil:
		return def
	case d.Mean != nil:
		return *d.Mean
	case d.Value != nil:
		return *d.Value
	}
	return def
}

// StddevOr0 returns the standard deviation, 0 when it has none.
func (d *Distribution) StddevOr0() float64 {
	if d == nil || d.Stddev == nil {
		return 0
	}
	return *d.Stddev
}

// keys are the members of the file layout in their order.
func (d *Distribution) keys() []struct {
	name  string
	value **float64
} {
	return []struct {
		name  string
		value **float64
	}{{"value", &d.Value}, {"mean", &d.Mean}, {"median", &d.Median}, {"stddev", &d.Stddev}, {"min", &d.Min}, {"max", &d.Max}}
}

// MarshalYAML writes the members that are set.
func (d Distribution) MarshalYAML() (any, error) {
	n := mapping()
	for _, k := range d.keys() {
		if *k.value != nil {
			add(n, k.name, number(**k.value))
		}
	}
	return n, nil
}

// UnmarshalYAML reads a plain number as a fixed value, else a mapping.
func (d *Distribution) UnmarshalYAML(n *yaml.Node) error {
	*d = Distribution{}
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&d.Value)
	}
	kind := ""
	err := eachPair(n, func(key string, v *yaml.Node) error {
		if key == "type" {
			kind = v.Value
			return nil
		}
		var names []string
		for _, k := range d.keys() {
			if k.name == key {
				return v.Decode(k.value)
			}
			names = append(names, k.name)
		}
		return fmt.Errorf("line %d: %s is not a key of a distribution; known are %s", v.Line, key, strings.Join(names, ", "))
	})
	if err != nil || kind == "" {
		return err
	}
	return d.mustBe(kind, n.Line)
}

// mustBe checks the keys against the distribution that the file names.
func (d *Distribution) mustBe(kind string, line int) error {
	var needs string
	switch {
	case kind != "fixed" && kind != "normal" && kind != "lognormal":
		return fmt.Errorf("line %d: a distribution of type %s is not read; known are fixed, normal, lognormal", line, kind)
	case kind == "fixed" && (d.Value == nil || d.Mean != nil):
		needs = "value"
	case kind == "normal" && (d.Mean == nil || d.Median != nil || d.Value != nil):
		needs = "mean and stddev"
	case kind == "lognormal" && (d.Mean == nil || d.Median == nil || d.Value != nil):
		needs = "mean and median"
	default:
		return nil
	}
	return fmt.Errorf("line %d: a distribution of type %s has %s and no other distribution's keys", line, kind, needs)
}
