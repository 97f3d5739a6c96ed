package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Distribution is a random quantity (spec: config, section 3.4). A plain number in a file is a fixed value. The first key present of peaks, points,
// median, stddev, value, mean determines the kind.
type Distribution struct {
	Value  *float64
	Mean   *float64
	Median *float64
	Stddev *float64
	Min    *float64
	Max    *float64
	Peaks  []Peak
	Points []Point
}

// Peak is one component of a mixture. Weights are relative.
type Peak struct {
	Distribution Distribution
	Weight       float64
}

// Point is one of several possible values. Weights are relative.
type Point struct{ Value, Weight float64 }

// Normal returns a normal distribution with a mean and a standard deviation.
func Normal(mean, stddev float64) *Distribution { return &Distribution{Mean: &mean, Stddev: &stddev} }

// Fixed returns a distribution with a single value.
func Fixed(value float64) *Distribution { return &Distribution{Value: &value} }

// Shaped reports whether a distribution is neither a number nor a normal distribution.
func (d *Distribution) Shaped() bool {
	return d != nil && (d.Median != nil || d.Min != nil || d.Max != nil || len(d.Peaks) > 0 || len(d.Points) > 0)
}

// MeanOr returns the mean without regard to min and max, or def for a nil distribution.
func (d *Distribution) MeanOr(def float64) float64 {
	switch {
	case d == nil:
		return def
	case len(d.Peaks) > 0:
		return weightedMean(d.Peaks, func(p *Peak) (float64, float64) { return p.Distribution.MeanOr(def), p.Weight })
	case len(d.Points) > 0:
		return weightedMean(d.Points, func(p *Point) (float64, float64) { return p.Value, p.Weight })
	case d.Mean != nil:
		return *d.Mean
	case d.Value != nil:
		return *d.Value
	}
	return def
}

func weightedMean[T any](list []T, of func(*T) (value, weight float64)) float64 {
	sum, total := 0.0, 0.0
	for i := range list {
		v, w := of(&list[i])
		sum, total = sum+v*w, total+w
	}
	return sum / total
}

// StddevOr0 returns the standard deviation of a normal distribution, otherwise 0.
func (d *Distribution) StddevOr0() float64 {
	if d == nil || d.Stddev == nil {
		return 0
	}
	return *d.Stddev
}

// keys returns the numeric keys of the file layout, in order.
func (d *Distribution) keys() []struct {
	name  string
	value **float64
} {
	return []struct {
		name  string
		value **float64
	}{{"value", &d.Value}, {"mean", &d.Mean}, {"median", &d.Median}, {"stddev", &d.Stddev}, {"min", &d.Min}, {"max", &d.Max}}
}

// MarshalYAML writes the keys that are set.
func (d Distribution) MarshalYAML() (any, error) { return d.node(), nil }

func (d *Distribution) node() *yaml.Node {
	n := mapping()
	for _, k := range d.keys() {
		if *k.value != nil {
			add(n, k.name, number(**k.value))
		}
	}
	list := func(key string, count int, one func(i int) *yaml.Node) {
		if count == 0 {
			return
		}
		l := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range count {
			l.Content = append(l.Content, one(i))
		}
		add(n, key, l)
	}
	list("peaks", len(d.Peaks), func(i int) *yaml.Node {
		p := mapping()
		add(p, "distribution", d.Peaks[i].Distribution.node())
		add(p, "weight", number(d.Peaks[i].Weight))
		return p
	})
	list("points", len(d.Points), func(i int) *yaml.Node {
		p := mapping()
		add(p, "value", number(d.Points[i].Value))
		add(p, "weight", number(d.Points[i].Weight))
		return p
	})
	return n
}

// UnmarshalYAML reads a plain number as a fixed value, otherwise a mapping.
func (d *Distribution) UnmarshalYAML(n *yaml.Node) error {
	*d = Distribution{}
	if n.Kind == yaml.ScalarNode {
		unquote(n, reflect.Float64)
		return n.Decode(&d.Value)
	}
	kind := ""
	err := eachPair(n, func(key string, v *yaml.Node) error {
		names := []string{"type", "peaks", "points"}
		switch key {
		case "type":
			kind = strings.ToLower(v.Value)
			return nil
		case "peaks":
			return readEntries(v, &d.Peaks, readPeak)
		case "points":
			return readEntries(v, &d.Points, readPoint)
		}
		for _, k := range d.keys() {
			if k.name == key {
				unquote(v, reflect.Float64)
				return v.Decode(k.value)
			}
			names = append(names, k.name)
		}
		return fmt.Errorf("line %d: %s is not a key of a distribution; known are %s", v.Line, key, strings.Join(names, ", "))
	})
	if err != nil {
		return err
	}
	return d.mustBe(kind, n.Line)
}

// readEntries reads the entries of a list.
func readEntries[T any](n *yaml.Node, into *[]T, read func(*yaml.Node) (T, error)) error {
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: a list is expected", n.Line)
	}
	for _, c := range n.Content {
		one, err := read(c)
		if err != nil {
			return err
		}
		*into = append(*into, one)
	}
	return nil
}

// readPeak reads {distribution, weight}, or a distribution with the key weight added.
func readPeak(n *yaml.Node) (p Peak, err error) {
	p.Weight = 1
	own, rest := (*yaml.Node)(nil), &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line}
	if n.Kind == yaml.ScalarNode {
		return p, n.Decode(&p.Distribution)
	}
	err = eachPair(n, func(key string, v *yaml.Node) error {
		switch key {
		case "weight":
			return v.Decode(&p.Weight)
		case "distribution":
			own = v
		default:
			add(rest, key, v)
		}
		return nil
	})
	switch {
	case err != nil:
		return p, err
	case own != nil && len(rest.Content) > 0:
		return p, fmt.Errorf("line %d: %s is not allowed in a peak with distribution; only weight is", rest.Content[1].Line, rest.Content[0].Value)
	case own != nil:
		return p, own.Decode(&p.Distribution)
	}
	return p, rest.Decode(&p.Distribution)
}

func readPoint(n *yaml.Node) (p Point, err error) {
	p.Weight = 1
	there := false
	err = eachPair(n, func(key string, v *yaml.Node) error {
		switch key {
		case "value":
			there = true
			return v.Decode(&p.Value)
		case "weight":
			return v.Decode(&p.Weight)
		}
		return fmt.Errorf("line %d: %s is not a key of a point; known are value, weight", v.Line, key)
	})
	if err == nil && !there {
		err = fmt.Errorf("line %d: a point needs a value", n.Line)
	}
	return p, err
}

// kinds lists the kinds of distributions and the keys of each besides min and max. The first key identifies the kind.
var kinds = []struct {
	name string
	keys []string
}{
	{"multimodal", []string{"peaks"}}, {"empirical", []string{"points"}}, {"lognormal", []string{"median", "mean"}},
	{"normal", []string{"stddev", "mean"}}, {"fixed", []string{"value"}}, {"normal", []string{"mean", "stddev"}},
}

// mustBe checks the keys against the named kind of distribution, or the kind that the keys imply.
func (d *Distribution) mustBe(name string, line int) error {
	there := map[string]bool{"peaks": d.Peaks != nil, "points": d.Points != nil}
	for _, k := range d.keys() {
		there[k.name] = *k.value != nil
	}
	known := []string{"fixed", "normal", "lognormal", "multimodal", "empirical"}
	if name != "" && !slices.Contains(known, name) {
		return fmt.Errorf("line %d: there is no distribution of type %s; known are %s", line, name, strings.Join(known, ", "))
	}
	for _, kind := range kinds {
		if name != "" && kind.name != name || name == "" && !there[kind.keys[0]] {
			continue
		}
		for key, is := range there {
			if is && key != "min" && key != "max" && !slices.Contains(kind.keys, key) {
				return fmt.Errorf("line %d: a %s distribution has %s, and no other distribution's keys such as %s", line, kind.name, strings.Join(kind.keys, " and "), key)
			}
		}
		return nil
	}
	return nil
}

// fault returns what is wrong with a distribution, and the key below it; nil if nothing is.
func (d *Distribution) fault() (key string, err error) {
	for _, k := range d.keys() {
		if f := *k.value; f != nil && !measure(*f) {
			return "." + k.name, fmt.Errorf("must be >= 0 and finite, not %v", *f)
		}
	}
	switch {
	case d.Peaks != nil && len(d.Peaks) < 2:
		return ".peaks", errors.New("needs two or more entries")
	case len(d.Peaks) == 0 && len(d.Points) == 0 && d.Mean == nil && d.Value == nil:
		return "", errors.New("has neither mean nor value, peaks or points")
	case d.Median != nil && (d.Mean == nil || *d.Median > *d.Mean || !(*d.Median > 0)):
		return ".median", errors.New("must be > 0 and not above mean")
	case d.Min != nil && d.Max != nil && *d.Min > *d.Max:
		return "", errors.New("min is above max")
	}
	if key, err := d.peaksFault(); err != nil {
		return key, err
	}
	return d.pointsFault()
}

// pointsFault returns the first error of the points, with its key.
func (d *Distribution) pointsFault() (key string, err error) {
	for i, p := range d.Points {
		switch {
		case !(p.Weight > 0 && measure(p.Weight)):
			return fmt.Sprintf(".points[%d].weight", i), fmt.Errorf("must be > 0 and finite, not %v", p.Weight)
		case !measure(p.Value):
			return fmt.Sprintf(".points[%d].value", i), fmt.Errorf("must be >= 0 and finite, not %v", p.Value)
		}
	}
	return "", nil
}

// peaksFault returns what is wrong with the peaks.
func (d *Distribution) peaksFault() (key string, err error) {
	total := 0.0
	for i := range d.Peaks {
		p := &d.Peaks[i]
		if key, err := p.Distribution.fault(); err != nil {
			return fmt.Sprintf(".peaks[%d]%s", i, key), err
		}
		if !measure(p.Weight) {
			return fmt.Sprintf(".peaks[%d].weight", i), fmt.Errorf("must be >= 0 and finite, not %v", p.Weight)
		}
		total += p.Weight
	}
	if len(d.Peaks) > 0 && total == 0 {
		return ".peaks", errors.New("have no weight")
	}
	return "", nil
}
