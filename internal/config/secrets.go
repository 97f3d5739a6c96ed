package config

import (
	"slices"

	"aiperf/internal/redact"
)

// Secrets are the values of all credentials that the run holds: what masked hides by its name, so that it is also found where something
// else, such as a server, repeats it.
func (r *Run) Secrets() []string { return r.Benchmark.Secrets() }

// Secrets are the values of the credentials of one benchmark.
func (b *Benchmark) Secrets() []string {
	found := []string{b.Endpoint.APIKey}
	for _, h := range b.Endpoint.Headers {
		found = append(found, redact.HeaderSecrets(h.Name, h.Value)...)
	}
	for _, m := range b.Endpoint.Extra {
		found = append(found, redact.MemberSecrets(m.Key, m.Value)...)
	}
	urls := slices.Concat(b.Endpoint.URLs, b.GPUTelemetry.URLs, b.ServerMetrics.URLs, []string{b.MLflow.TrackingURI, b.OTel.MetricsURL})
	if b.Endpoint.Path != nil {
		urls = append(urls, *b.Endpoint.Path)
	}
	for _, u := range urls {
		found = append(found, redact.URLSecrets(u)...)
	}
	return found
}
