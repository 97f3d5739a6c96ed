package config

import (
	"slices"
	"sync"

	"aiperf/internal/base/redact"
)

// Secrets returns the values of all credentials of the run. masked hides them by key. With the values, they are also found where something else, such
// as a server, repeats them.
func (r *Run) Secrets() []string { return r.Benchmark.Secrets() }

// Secrets returns the values of the credentials of one benchmark.
func (b *Benchmark) Secrets() []string {
	found := []string{b.Endpoint.APIKey, b.Runtime.APIToken, b.Environment.API.Token}
	for _, h := range b.Endpoint.Headers {
		found = append(found, redact.HeaderSecrets(h.Name, h.Value)...)
	}
	for _, m := range b.Endpoint.Extra {
		found = append(found, redact.MemberSecrets(m.Key, m.Value)...)
	}
	urls := slices.Concat(b.Endpoint.URLs, b.GPUTelemetry.URLs, b.ServerMetrics.URLs, []string{b.MLflow.TrackingURI, b.OTel.MetricsURL, b.Endpoint.Proxy})
	if b.Endpoint.Path != nil {
		urls = append(urls, *b.Endpoint.Path)
	}
	for _, u := range urls {
		found = append(found, redact.URLSecrets(u)...)
	}
	return found
}

// flagSecrets maps every spelling of a flag with a row to the secret part of its values.
var flagSecrets = sync.OnceValue(func() map[string]redact.ArgKind {
	kinds := map[string]redact.ArgKind{}
	for _, row := range Rows() {
		for _, flag := range slices.Concat(row.Flags, row.Hidden, row.FalseNames) {
			kinds[flag] = row.Secret
		}
	}
	return kinds
})

// FlagSecret returns the secret part of a flag's values; false if the flag has no row.
func FlagSecret(flag string) (redact.ArgKind, bool) {
	kind, ok := flagSecrets()[flag]
	return kind, ok
}
