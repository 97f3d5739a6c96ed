package plots

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/suggest"
	"aiperf/internal/report/chart"
)

// Preset is one chart of a settings file.
type Preset struct {
	Name                    string
	Type                    string
	X, Y                    Ref
	Y2                      *Ref
	Title                   string
	XLabel, YLabel          string
	Description             string
	Label                   string // column of the labels at the points; "" = none
	Group                   string // column that defines the series
	Primary, Secondary      chart.Style
	PrimaryMode, SecondMode string
	Supplementary           string
	Autoscale               string      // none, x, y, both
	XScale, YScale          chart.Scale // "" = the default of the type of plot
	Level                   float64
	SliceTimes              bool
}

// Ref refers to the values along an axis.
type Ref struct {
	Metric string
	Stat   string // "" = none
	Source string // "" = found by the name
}

// presetText is a preset as it is written in a file.
type presetText struct {
	Type          string    `yaml:"type"`
	X             yaml.Node `yaml:"x"`
	Y             yaml.Node `yaml:"y"`
	Y2            yaml.Node `yaml:"y2"`
	Stat          string    `yaml:"stat"`
	Source        string    `yaml:"source"`
	Title         string    `yaml:"title"`
	XLabel        string    `yaml:"x_label"`
	YLabel        string    `yaml:"y_label"`
	Description   string    `yaml:"description"`
	Labels        []string  `yaml:"labels"`
	Groups        []string  `yaml:"groups"`
	Primary       *style    `yaml:"primary_style"`
	Secondary     *style    `yaml:"secondary_style"`
	Supplementary string    `yaml:"supplementary_col"`
	Autoscale     string    `yaml:"autoscale"`
	XScale        string    `yaml:"x_scale"`
	YScale        string    `yaml:"y_scale"`
	Level         float64   `yaml:"ci_level"`
	SliceTimes    *bool     `yaml:"use_slice_duration"`
}

// style is a style as it is written in a file.
type style struct {
	Mode          string   `yaml:"mode"`
	LineShape     string   `yaml:"line_shape"`
	Fill          string   `yaml:"fill"`
	LineWidth     *float64 `yaml:"line_width"`
	MarkerSize    *float64 `yaml:"marker_size"`
	MarkerOpacity *float64 `yaml:"marker_opacity"`
	FillOpacity   *float64 `yaml:"fill_opacity"`
}

// sources lists the sources of data.
var sources = []string{"requests", "timeslices", "gpu_telemetry", "aggregated", "server_metrics", "server_metrics_aggregated", "timeline"}

// parsePreset reads a preset.
func parsePreset(name string, node *yaml.Node, multi bool) (*Preset, error) {
	in := presetText{Autoscale: "none", Level: 0.95}
	if err := strict(node, &in); err != nil {
		return nil, err
	}
	p := &Preset{
		Name: name, Type: in.Type, Title: in.Title, XLabel: in.XLabel, YLabel: in.YLabel, Description: in.Description, Supplementary: in.Supplementary,
		Autoscale: in.Autoscale, Level: in.Level, SliceTimes: in.SliceTimes == nil || *in.SliceTimes, Group: "run_name",
	}
	if kinds := typeNames(multi); !slices.Contains(kinds, p.Type) {
		return nil, fmt.Errorf("line %d: type %q; allowed are %s", node.Line, p.Type, fold(kinds))
	}
	if !slices.Contains([]float64{0.90, 0.95, 0.99}, p.Level) {
		p.Level = 0.95
	}
	if !slices.Contains([]string{"none", "x", "y", "both"}, p.Autoscale) {
		return nil, fmt.Errorf("autoscale %q; allowed are none, x, y, both", p.Autoscale)
	}
	for _, one := range []struct {
		key, value string
		to         *chart.Scale
	}{{"x_scale", in.XScale, &p.XScale}, {"y_scale", in.YScale, &p.YScale}} {
		*one.to = chart.Scale(one.value)
		if !slices.Contains([]chart.Scale{"", chart.Linear, chart.Log}, *one.to) {
			return nil, fmt.Errorf("%s %q; allowed are linear, log", one.key, one.value)
		}
	}
	var err error
	if p.Label, err = oneColumn("labels", in.Labels); err != nil {
		return nil, err
	}
	if len(in.Groups) > 0 {
		if p.Group, err = oneColumn("groups", in.Groups); err != nil {
			return nil, err
		}
	}
	if err := p.refs(&in, multi); err != nil {
		return nil, err
	}
	if p.Primary, p.PrimaryMode, err = in.Primary.parse(); err != nil {
		return nil, fmt.Errorf("primary_style: %w", err)
	}
	if p.Secondary, p.SecondMode, err = in.Secondary.parse(); err != nil {
		return nil, fmt.Errorf("secondary_style: %w", err)
	}
	return p, nil
}

// strict decodes a mapping and rejects unknown keys.
func strict(node *yaml.Node, v any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(v); err != nil {
		var wrong *yaml.TypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("line %d: %s", node.Line, strings.Join(wrong.Errors, "; "))
		}
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return nil
}

// oneColumn returns the column of a list that may have only one.
func oneColumn(key string, list []string) (string, error) {
	switch len(list) {
	case 0:
		return "", nil
	case 1:
		return list[0], nil
	}
	return "", fmt.Errorf("%s allows one column, got %d (%s)", key, len(list), fold(list))
}

// refs reads the axes.
func (p *Preset) refs(in *presetText, multi bool) error {
	if in.Source != "" && !slices.Contains(sources, in.Source) {
		return fmt.Errorf("source %q; allowed are %s", in.Source, fold(sources))
	}
	if in.X.IsZero() && in.Y.IsZero() {
		return errors.New("x or y is needed")
	}
	for _, axis := range []struct {
		key  string
		node *yaml.Node
		to   *Ref
	}{{"x", &in.X, &p.X}, {"y", &in.Y, &p.Y}, {"y2", &in.Y2, new(Ref)}} {
		if axis.node.IsZero() {
			continue
		}
		r, err := parseRef(axis.node, multi)
		if err != nil {
			return fmt.Errorf("%s: %w", axis.key, err)
		}
		if in.Source != "" && r.Source == "" && axis.key != "x" {
			r.Source = in.Source
		}
		if axis.key == "y2" {
			p.Y2 = &r
		} else {
			*axis.to = r
		}
	}
	if in.Stat != "" {
		if !slices.Contains(statKeys, in.Stat) {
			return fmt.Errorf("stat %q; allowed are %s", in.Stat, fold(statKeys))
		}
		p.Y.Stat = in.Stat
	}
	for _, r := range []*Ref{&p.X, &p.Y, p.Y2} {
		if r == nil || r.Metric == "" {
			continue
		}
		if err := r.resolve(multi); err != nil {
			return err
		}
	}
	return nil
}

// parseRef reads a mapping {metric, stat, source}, or a name that may end with a statistic.
func parseRef(node *yaml.Node, multi bool) (Ref, error) {
	if node.Kind == yaml.ScalarNode {
		return splitRef(node.Value, multi)
	}
	var in struct {
		Metric string `yaml:"metric"`
		Stat   string `yaml:"stat"`
		Source string `yaml:"source"`
	}
	if err := strict(node, &in); err != nil {
		return Ref{}, err
	}
	switch {
	case in.Metric == "":
		return Ref{}, errors.New("metric is missing")
	case in.Stat != "" && !slices.Contains(statKeys, in.Stat):
		return Ref{}, fmt.Errorf("stat %q; allowed are %s", in.Stat, fold(statKeys))
	case in.Source != "" && !slices.Contains(sources, in.Source):
		return Ref{}, fmt.Errorf("source %q; allowed are %s", in.Source, fold(sources))
	}
	return Ref(in), nil
}

// splitRef splits a statistic off a name, unless the whole name is known.
func splitRef(text string, multi bool) (Ref, error) {
	if known(text, multi) || isServerMetric(text) {
		return Ref{Metric: text}, nil
	}
	if at := strings.LastIndexByte(text, '_'); at > 0 {
		name, stat := text[:at], text[at+1:]
		switch {
		case slices.Contains(statKeys, stat):
			return Ref{Metric: name, Stat: stat}, nil
		case known(name, multi) && len(stat) > 0 && strings.ContainsAny(stat[:1], "pams"):
			near := ""
			if n := suggest.Name(stat, statKeys); n != "" {
				near = "; did you mean " + n + "?"
			}
			return Ref{}, fmt.Errorf("%s: unknown statistic %q%s; allowed are %s", text, stat, near, fold(statKeys))
		}
	}
	return Ref{Metric: text}, nil
}

// parse converts a style; a nil style gives the defaults.
func (s *style) parse() (chart.Style, string, error) {
	out, mode := chart.Style{Width: 2, Size: 8, Opacity: 1, Filling: 0.3}, chart.Lines
	if s == nil {
		return out, mode, nil
	}
	for _, one := range []struct {
		key, value string
		allowed    []string
	}{
		{"mode", s.Mode, []string{"", chart.Lines, chart.Markers, chart.LinesMarkers}},
		{"line_shape", s.LineShape, []string{"", "linear", "hv", "spline"}},
		{"fill", s.Fill, []string{"", chart.ToZero, chart.ToNext}},
	} {
		if !slices.Contains(one.allowed, one.value) {
			return out, mode, fmt.Errorf("%s %q; allowed are %s", one.key, one.value, fold(one.allowed[1:]))
		}
	}
	if s.Mode != "" {
		mode = s.Mode
	}
	out.Fill = s.Fill
	if s.LineShape != "linear" {
		out.Shape = s.LineShape
	}
	for _, one := range []struct {
		from *float64
		to   *float64
	}{{s.LineWidth, &out.Width}, {s.MarkerSize, &out.Size}, {s.MarkerOpacity, &out.Opacity}, {s.FillOpacity, &out.Filling}} {
		if one.from != nil {
			*one.to = *one.from
		}
	}
	return out, mode, nil
}
