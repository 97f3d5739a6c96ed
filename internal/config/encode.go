package config

import (
	"bytes"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Redacted is what stands in place of a secret in everything that is written.
const Redacted = "<redacted>"

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
	c.Endpoint.URLs = make([]string, len(r.Endpoint.URLs))
	for i, u := range r.Endpoint.URLs {
		c.Endpoint.URLs[i] = MaskURL(u)
	}
	c.Endpoint.Headers = make(Headers, len(r.Endpoint.Headers))
	for i, h := range r.Endpoint.Headers {
		if SecretHeader(h.Name) {
			h.Value = Redacted
		}
		c.Endpoint.Headers[i] = h
	}
	c.MLflow.TrackingURI = MaskURL(c.MLflow.TrackingURI)
	c.OTel.MetricsURL = MaskURL(c.OTel.MetricsURL)
	return &c
}

// MaskURL removes the user information from a URL.
func MaskURL(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil || u.User == nil {
		return s
	}
	head, rest, _ := strings.Cut(s, "://")
	_, rest, _ = strings.Cut(rest, "@")
	return head + "://" + Redacted + "@" + rest
}

// SecretHeader reports whether the value of a header is a credential.
func SecretHeader(name string) bool {
	switch name = strings.ToLower(name); name {
	case "authorization", "proxy-authorization", "cookie", "set-cookie", "api-key", "x-api-key", "x-auth-token", "x-goog-api-key", "ocp-apim-subscription-key":
		return true
	}
	return strings.Contains(name, "api-key") || strings.Contains(name, "secret") || strings.Contains(name, "token")
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
