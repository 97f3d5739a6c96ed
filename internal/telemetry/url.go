// Package telemetry watches what stands beside the requests of a run: exporters of metrics. It knows where they are, asks them on a cadence
// and within bounds; the packages below it make figures of what they answer.
package telemetry

import (
	"net/url"
	"strings"
)

const metricsPath = "/metrics"

// URL completes the address of an exporter: http:// unless a scheme stands there, no slash at the end, /metrics unless the path ends so.
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

// URLs completes a list; of equal ones the first stays.
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

// Shown is an exporter's URL as files and tables show it: without the name and the password of a user.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// Name is an exporter's URL without its scheme and /metrics.
func Name(address string) string {
	address = Shown(address)
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	return strings.TrimSuffix(address, metricsPath)
}

// TensorRT is where TensorRT-LLM has its Prometheus page when /metrics answers in JSON; "" if the address is that one.
func TensorRT(address string) string {
	const path = "/prometheus/metrics"
	if !strings.HasSuffix(address, metricsPath) || strings.HasSuffix(address, path) {
		return ""
	}
	return strings.TrimSuffix(address, metricsPath) + path
}

// AtRoot is the metrics page at the root of the server of an address with a path of its own; "" if the address is that one.
func AtRoot(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Path == metricsPath {
		return ""
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = metricsPath, "", "", ""
	return u.String()
}
