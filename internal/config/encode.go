package config

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/redact"
)

// Redacted replaces secrets in all output.
const Redacted = redact.Placeholder

// YAML returns the whole run as a file that Load can read, with masked secrets.
func (r *Run) YAML() ([]byte, error) {
	n, err := r.node()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	return buf.Bytes(), enc.Close()
}

// node returns the masked run as a tree.
func (r *Run) node() (*yaml.Node, error) {
	shown, err := r.masked().explicit()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{}
	if err := n.Encode(shown); err != nil {
		return nil, err
	}
	inlineScalars(n)
	return n, nil
}

// masked returns a copy of r without secrets. It does not change data shared with r.
func (r *Run) masked() *Run {
	c := *r
	if c.Endpoint.APIKey != "" {
		c.Endpoint.APIKey = Redacted
	}
	c.Runtime.APIToken, c.Environment.API.Token = "", "" // a later run uses its own token
	for _, list := range []*[]string{&c.Endpoint.URLs, &c.GPUTelemetry.URLs, &c.ServerMetrics.URLs} {
		shown := make([]string, len(*list))
		for i, u := range *list {
			shown[i] = redact.URL(u)
		}
		*list = shown
	}
	if c.Endpoint.Path != nil {
		path := redact.URL(*c.Endpoint.Path)
		c.Endpoint.Path = &path
	}
	c.Endpoint.Headers = make(Headers, len(r.Endpoint.Headers))
	for i, h := range r.Endpoint.Headers {
		if redact.SecretHeader(h.Name) {
			h.Value = Redacted
		}
		c.Endpoint.Headers[i] = h
	}
	c.Endpoint.Extra = make(Extra, len(r.Endpoint.Extra))
	for i, m := range r.Endpoint.Extra {
		m.Value = redact.Members(m.Key, m.Value)
		c.Endpoint.Extra[i] = m
	}
	c.MLflow.TrackingURI = redact.URL(c.MLflow.TrackingURI)
	c.Endpoint.Proxy = redact.URL(c.Endpoint.Proxy)
	c.OTel.MetricsURL = redact.URL(c.OTel.MetricsURL)
	return &c
}

// explicit returns a run whose sweep needs neither variables nor the original file. Cells that change more than values at their paths become
// scenarios that contain their changes.
func (r *Run) explicit() (*Run, error) {
	s := r.Sweep
	if s == nil || s.Type == SweepSearch {
		return r, nil
	}
	points, err := r.points()
	if err != nil {
		return r, nil //nolint:nilerr // a sweep without cells is shown as it was given; Validate says what is wrong with it
	}
	base, err := bodyNode(&r.Benchmark)
	if err != nil {
		return nil, err
	}
	changes, rewritten := make([]*yaml.Node, len(points)), false
	if !slices.ContainsFunc(points, func(p point) bool { return p.rewrites() }) && (r.source == nil || !r.source.templated) {
		return r, nil
	}
	for i := range points {
		body, err := r.bodyOf(&points[i])
		if err != nil {
			return r, nil //nolint:nilerr // as above
		}
		now, err := bodyNode(body)
		if err != nil {
			return nil, err
		}
		changes[i] = difference(base, now)
		rewritten = rewritten || points[i].rewrites() || !r.reaches(&points[i], now)
	}
	if !rewritten {
		return r, nil
	}
	c, listed := *r, *s
	listed.Type, listed.Parameters, listed.Samples, listed.Dimensions = SweepScenarios, nil, 0, nil
	listed.Seed, listed.LabelFormat, listed.Scramble, listed.Optimization, listed.Runs = nil, "", nil, "", nil
	for i := range points {
		one := Scenario{Name: points[i].dir}
		if was := points[i].scenario; was != nil {
			one.Name, one.Values = was.Name, was.Values
		}
		if changes[i] != nil {
			one.Benchmark = *changes[i]
		}
		listed.Runs = append(listed.Runs, one)
	}
	c.Sweep = &listed
	return &c, nil
}

// reaches reports whether the values of a point alone produce this body, without the file.
func (r *Run) reaches(p *point, body *yaml.Node) bool {
	plain := *r
	plain.source = nil
	own, err := plain.bodyOf(p)
	if err != nil {
		return false
	}
	n, err := bodyNode(own)
	return err == nil && difference(n, body) == nil
}

// inlineScalars writes lists of scalars on one line.
func inlineScalars(n *yaml.Node) {
	flat := n.Kind == yaml.SequenceNode
	for _, c := range n.Content {
		inlineScalars(c)
		flat = flat && c.Kind == yaml.ScalarNode
	}
	if flat {
		n.Style = yaml.FlowStyle
	}
}
