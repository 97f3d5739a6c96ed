package config

import (
	"math"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestDistribution: every kind is read with or without its name, means follow from what is given, and it is printed so that it reads back.
func TestDistribution(t *testing.T) {
	for text, mean := range map[string]float64{
		"7": 7, "{value: 7}": 7, "{mean: 7, stddev: 2}": 7, "{mean: 7}": 7, "{type: Fixed, value: 7, max: 3}": 7, "{mean: 7, median: 5}": 7,
		"{points: [{value: 4, weight: 3}, {value: 8}]}":                                         5,
		"{peaks: [{mean: 10, stddev: 1, weight: 3}, {distribution: 50}]}":                       20,
		"{type: multimodal, peaks: [7, {points: [{value: 1}, {value: 3}]}, {distribution: 6}]}": 5,
	} {
		var d Distribution
		if err := yaml.Unmarshal([]byte(text), &d); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := d.fault(); err != nil || math.Abs(d.MeanOr(-1)-mean) > 1e-12 {
			t.Errorf("%s: mean %v, %v", text, d.MeanOr(-1), err)
		}
		out, err := yaml.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again Distribution
		if err := yaml.Unmarshal(out, &again); err != nil || again.MeanOr(-1) != d.MeanOr(-1) || again.Shaped() != d.Shaped() {
			t.Errorf("%s was printed as %s: %v", text, out, err)
		}
	}
}

// TestShaped: a number and a normal distribution are plain, every other is shaped.
func TestShaped(t *testing.T) {
	for text, want := range map[string]bool{
		"7": false, "{mean: 7}": false, "{mean: 7, stddev: 2}": false, "{mean: 7, median: 5}": true, "{mean: 7, min: 1}": true, "{mean: 7, max: 9}": true,
		"{points: [{value: 4}, {value: 8}]}": true, "{peaks: [1, 2]}": true,
	} {
		var d Distribution
		if err := yaml.Unmarshal([]byte(text), &d); err != nil || d.Shaped() != want {
			t.Errorf("%s: shaped %v, %v", text, d.Shaped(), err)
		}
	}
	if (*Distribution)(nil).Shaped() {
		t.Error("no distribution has a shape")
	}
}

// TestDistributionRefused: what is wrong is named with its place.
func TestDistributionRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{peaks: [{mean: 1}]}":                                          ".peaks needs two or more entries",
		"{peaks: [1, {mean: 2, weight: -1}]}":                           ".peaks[1].weight must be >= 0",
		"{peaks: [{mean: 1, weight: 0}, {distribution: 2, weight: 0}]}": ".peaks have no weight",
		"{peaks: [1, {mean: 2, median: 3}]}":                            ".peaks[1].median must be > 0 and not above mean",
		"{peaks: [1, {mean: 2, distribution: 3}]}":                      "mean is not allowed in a peak with distribution; only weight is",
		"{points: []}":                      "has neither mean nor value, peaks or points",
		"{points: [{weight: 1}]}":           "a point needs a value",
		"{points: [{value: 1, weight: 0}]}": ".points[0].weight must be > 0",
		"{points: [{value: 1, wait: 0}]}":   "wait is not a key of a point",
		"{mean: 1, min: 5, max: 4}":         "min is above max",
		"{type: zipf, mean: 1}":             "there is no distribution of type zipf; known are fixed, normal",
		"{type: fixed, mean: 1}":            "a fixed distribution has value",
		"{value: 1, median: 3}":             "a lognormal distribution has median and mean, and no other",
		"{mean: -1}":                        ".mean must be >= 0",
		"{stddev: 3}":                       "has neither mean nor value",
		"{men: 1}":                          "men is not a key of a distribution; known are type, peaks, points, value, mean",
	} {
		var d Distribution
		err := yaml.Unmarshal([]byte(text), &d)
		said := ""
		if err != nil {
			said = err.Error()
		} else if key, err := d.fault(); err != nil {
			said = strings.TrimSpace(key + " " + err.Error())
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
	}
}
