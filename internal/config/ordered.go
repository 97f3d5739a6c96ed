package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/sorting"
)

// Header is one request header.
type Header struct{ Name, Value string }

// Headers are request headers in the order given. Names are unique, ignoring case.
type Headers []Header

// Set adds a header. It replaces a header with the same name, ignoring case.
func (h *Headers) Set(name, value string) {
	for i := range *h {
		if strings.EqualFold((*h)[i].Name, name) {
			(*h)[i] = Header{name, value}
			return
		}
	}
	*h = append(*h, Header{name, value})
}

// Get returns the value of a header, ignoring case.
func (h Headers) Get(name string) (string, bool) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value, true
		}
	}
	return "", false
}

// Member is one member of a JSON object.
type Member struct {
	Key   string
	Value json.RawMessage // compact JSON text
}

// Extra are members added to every request body, in the order given. Keys are unique.
type Extra []Member

// Set sets a member. An existing key keeps its position.
func (e *Extra) Set(key string, value json.RawMessage) {
	for i := range *e {
		if (*e)[i].Key == key {
			(*e)[i].Value = value
			return
		}
	}
	*e = append(*e, Member{key, value})
}

// Get returns the value of a key.
func (e Extra) Get(key string) (json.RawMessage, bool) {
	for i := range e {
		if e[i].Key == key {
			return e[i].Value, true
		}
	}
	return nil, false
}

// Has reports whether a key is set.
func (e Extra) Has(key string) bool {
	_, there := e.Get(key)
	return there
}

// SLO is one goodput threshold in the display unit of its metric.
type SLO struct {
	Tag       string
	Threshold float64
}

// SLOs are goodput thresholds in the order given. Tags are unique.
type SLOs []SLO

// Set sets the threshold of a tag.
func (s *SLOs) Set(tag string, threshold float64) {
	for i := range *s {
		if (*s)[i].Tag == tag {
			(*s)[i].Threshold = threshold
			return
		}
	}
	*s = append(*s, SLO{tag, threshold})
}

// RecordPool is a list of dataset rows given in the configuration itself.
type RecordPool struct {
	Name string // empty if there is only one list, without a name
	Rows []json.RawMessage
}

// Records are rows given in a configuration: one list, or named lists, which are pools to draw from.
type Records []RecordPool

// Formats is a list of file formats. An empty list is written as false, as the file layout requires.
type Formats []string

// MarshalYAML writes the headers as a mapping, in order.
func (h Headers) MarshalYAML() (any, error) {
	n := mapping()
	for _, one := range h {
		add(n, one.Name, text(one.Value))
	}
	return n, nil
}

// UnmarshalYAML reads a mapping of names to scalars. A value keeps its spelling.
func (h *Headers) UnmarshalYAML(n *yaml.Node) error {
	*h = Headers{}
	return eachPair(n, func(key string, v *yaml.Node) error {
		if v.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: header %s must be text", v.Line, key)
		}
		h.Set(key, v.Value)
		return nil
	})
}

// MarshalYAML writes the members as a mapping, in order.
func (e Extra) MarshalYAML() (any, error) {
	n := mapping()
	for _, m := range e {
		v, err := fromJSON(m.Value)
		if err != nil {
			return nil, fmt.Errorf("extra input %s: %w", m.Key, err)
		}
		add(n, m.Key, v)
	}
	return n, nil
}

// UnmarshalYAML reads a mapping of keys to any values that JSON can represent.
func (e *Extra) UnmarshalYAML(n *yaml.Node) error {
	*e = Extra{}
	return eachPair(n, func(key string, v *yaml.Node) error {
		raw, err := appendJSON(nil, v)
		if err != nil {
			return err
		}
		e.Set(key, raw)
		return nil
	})
}

// MarshalYAML writes a list of rows, or a mapping of names to lists.
func (r Records) MarshalYAML() (any, error) {
	named := mapping()
	for _, pool := range r {
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, row := range pool.Rows {
			v, err := fromJSON(row)
			if err != nil {
				return nil, fmt.Errorf("records: %w", err)
			}
			list.Content = append(list.Content, v)
		}
		if pool.Name == "" {
			return list, nil
		}
		add(named, pool.Name, list)
	}
	return named, nil
}

// UnmarshalYAML reads a list of rows, or a mapping of names to lists.
func (r *Records) UnmarshalYAML(n *yaml.Node) error {
	*r = Records{}
	if n.Kind == yaml.MappingNode {
		return eachPair(n, func(name string, v *yaml.Node) error { return r.read(name, v) })
	}
	return r.read("", n)
}

func (r *Records) read(name string, list *yaml.Node) error {
	if list.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: records must be a list of rows, or lists by name", list.Line)
	}
	pool := RecordPool{Name: name}
	for _, item := range list.Content {
		row, err := appendJSON(nil, item)
		if err != nil {
			return err
		}
		pool.Rows = append(pool.Rows, row)
	}
	*r = append(*r, pool)
	return nil
}

// Count returns the number of rows.
func (r Records) Count() int {
	n := 0
	for i := range r {
		n += len(r[i].Rows)
	}
	return n
}

// MarshalYAML writes the thresholds as a mapping, in order.
func (s SLOs) MarshalYAML() (any, error) {
	n := mapping()
	for _, one := range s {
		add(n, one.Tag, number(one.Threshold))
	}
	return n, nil
}

// UnmarshalYAML reads a mapping of tags to numbers.
func (s *SLOs) UnmarshalYAML(n *yaml.Node) error {
	*s = SLOs{}
	return eachPair(n, func(key string, v *yaml.Node) error {
		var f float64
		if unquote(v, reflect.Float64); v.Decode(&f) != nil {
			return fmt.Errorf("line %d: the threshold of %s is %q, which is not a number", v.Line, key, v.Value)
		}
		s.Set(key, f)
		return nil
	})
}

// MarshalYAML writes the axes as a mapping, in order.
func (a Axes) MarshalYAML() (any, error) {
	n := mapping()
	for _, axis := range a {
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for _, v := range axis.Values {
			item := &yaml.Node{}
			if f, ok := v.(float64); ok {
				item = number(f)
			} else if err := item.Encode(v); err != nil {
				return nil, err
			}
			list.Content = append(list.Content, item)
		}
		add(n, axis.Path, list)
	}
	return n, nil
}

// UnmarshalYAML reads a mapping of dotted paths to lists of numbers; the axes are sorted by path.
func (a *Axes) UnmarshalYAML(n *yaml.Node) error {
	*a = Axes{}
	err := eachPair(n, func(key string, v *yaml.Node) error {
		axis := Axis{Path: key}
		if err := v.Decode(&axis.Values); err != nil {
			return err
		}
		*a = append(*a, axis)
		return nil
	})
	sorting.Stable(*a, func(x, y Axis) int { return strings.Compare(x.Path, y.Path) })
	return err
}

// MarshalYAML writes a list, or false if it is empty.
func (f Formats) MarshalYAML() (any, error) {
	if len(f) == 0 {
		return false, nil
	}
	return []string(f), nil
}

// Has reports whether a format is listed.
func (f Formats) Has(format string) bool { return slices.Contains(f, format) }

// UnmarshalYAML reads a list, or false for none.
func (f *Formats) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == "false" {
		*f = nil
		return nil
	}
	var list []string
	if err := n.Decode(&list); err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("line %d: the list is empty; write false for none", n.Line)
	}
	*f = list
	return nil
}
