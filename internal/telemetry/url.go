// Package telemetry reads exporters of metrics during a run. It finds their addresses and reads them at intervals and within limits; the packages
// below it compute figures from their answers.
package telemetry

import (
	"net/url"
	"strings"
)

const metricsPath = "/metrics"

// URL completes the address of an exporter: it adds http:// if there is no scheme, removes a slash at the end, and adds /metrics if the path does not
// end so.
func URL(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	text = strings.TrimRight(text, "/")
	if !strings.HasSuffix(text, metricsPath) {
		text += metricsPath
	}
	return text
}

// URLs completes a list and removes duplicates; the first one stays.
func URLs(lists ...[]string) (out []string) {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, text := range list {
			if u := URL(text); !seen[u] {
				seen[u] = true
				out = append(out, u)
			}
		}
	}
	return out
}

// Shown returns an exporter's URL for files and tables: without user name and password.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// Name returns an exporter's URL without its scheme and /metrics.
func Name(address string) string {
	address = Shown(address)
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	return strings.TrimSuffix(address, metricsPath)
}

// TensorRT returns the address of TensorRT-LLM's Prometheus page, for servers whose /metrics answers in JSON; "" if the address is already that one.
func TensorRT(address string) string {
	const path = "/prometheus/metrics"
	if !strings.HasSuffix(address, metricsPath) || strings.HasSuffix(address, path) {
		return ""
	}
	return strings.TrimSuffix(address, metricsPath) + path
}

// AtRoot returns the metrics page at the root of a server whose address has a path; "" if the address is already that one.
func AtRoot(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Path == metricsPath {
		return ""
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = metricsPath, "", "", ""
	return u.String()
}
