package config

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/redact"
)

// Redacted is what stands in place of a secret in everything that is written.
const Redacted = redact.Placeholder

// YAML returns the whole run as a file that Load reads again, secrets masked.
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

// node is the masked run as a tree.
func (r *Run) node() (*yaml.Node, error) {
	n := &yaml.Node{}
	if err := n.Encode(r.masked()); err != nil {
		return nil, err
	}
	tidy(n)
	return n, nil
}

// masked returns a copy without secrets; what it shares with r it does not change.
func (r *Run) masked() *Run {
	c := *r
	if c.Endpoint.APIKey != "" {
		c.Endpoint.APIKey = Redacted
	}
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
	c.OTel.MetricsURL = redact.URL(c.OTel.MetricsURL)
	return &c
}

// tidy puts lists of scalars on one line.
func tidy(n *yaml.Node) {
	flat := n.Kind == yaml.SequenceNode
	for _, c := range n.Content {
		tidy(c)
		flat = flat && c.Kind == yaml.ScalarNode
	}
	if flat {
		n.Style = yaml.FlowStyle
	}
}
