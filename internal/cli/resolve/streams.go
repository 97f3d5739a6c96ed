package resolve

import (
	"aiperf/internal/report/livepage"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/telemetry/mlops"
)

// metricsSignal is the suffix of a URL that accepts metrics (OTLP over HTTP).
const metricsSignal = "/v1/metrics"

// streams fills in where results go besides the files: a collector, trackers, a page for Prometheus.
func (r *resolver) streams() {
	r.bind("otel.")
	r.bind("mlflow.")
	r.bind("wandb.")
	o := &r.run.OTel
	if r.has("--stream") {
		asked := r.set.Texts("--stream")
		has := func(name string) bool { return slices.Contains(asked, name) }
		o.StreamMetrics, o.StreamTiming, o.StreamTraces = has("metrics") || has("default"), has("timing") || has("default"), has("traces")
		if has("none") && len(asked) > 1 {
			r.fail("%s: none cannot be combined with other values", r.spelled("--stream"))
		}
	}
	if r.has("--otel-resource-attributes") {
		o.ResourceAttributes = r.pairs("--otel-resource-attributes", "=")
	}
	if r.has("--mlflow-tag") {
		r.run.MLflow.Tags = r.pairs("--mlflow-tag", ":")
	}
	if at := strings.TrimSpace(o.MetricsURL); at != "" && !strings.Contains(at, "://") {
		o.MetricsURL = "http://" + at
	}
	r.address("otel.metrics_url", o.MetricsURL)
	if at := strings.TrimRight(strings.TrimSpace(o.MetricsURL), "/"); at != "" && !strings.HasSuffix(at, metricsSignal) {
		o.MetricsURL = at + metricsSignal
	}
	r.address("mlflow.tracking_uri", r.run.MLflow.TrackingURI)
	for _, p := range r.run.MLflow.ArtifactGlobs {
		if err := mlops.CheckPattern(p); err != nil || strings.TrimSpace(p) == "" {
			r.fail("%s %q: want a pattern of paths below the artifact directory, such as *.json or plots/**", r.spell("mlflow.artifact_globs"), p)
		}
	}
	r.listen()
}

// address checks the URL of a service that receives results.
func (r *resolver) address(key, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.fail("%s %s: want http://HOST:PORT or https://HOST", r.spell(key), redact.URL(text))
	}
}

// pairs reads KEY<sep>VALUE items, or JSON objects of strings, numbers and booleans.
func (r *resolver) pairs(flag, sep string) map[string]string {
	all := map[string]string{}
	for _, item := range r.set.Texts(flag) {
		if strings.HasPrefix(strings.TrimSpace(item), "{") {
			var object map[string]any
			if err := json.Unmarshal([]byte(item), &object); err != nil {
				r.fail("%s: %q is not a JSON object", r.spelled(flag), item)
			}
			for key, value := range object {
				text, isText := value.(string)
				if raw, err := json.Marshal(value); !isText && err == nil {
					text = string(raw)
				}
				all[key] = text
			}
			continue
		}
		key, value, ok := strings.Cut(item, sep)
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || key == "" || value == "" {
			r.fail("%s: want KEY%sVALUE, got %q", r.spelled(flag), sep, item)
			continue
		}
		all[key] = value
	}
	return all
}

// listen completes the addresses of the page for Prometheus and of the live page.
func (r *resolver) listen() {
	if text := &r.run.Runtime.MetricsListen; *text != "" || r.has("--metrics-listen") {
		r.completeAddress("runtime.metrics_listen", text)
	}
	if text := &r.run.Runtime.Web; *text != "" && *text != livepage.Auto {
		r.completeAddress("runtime.web", text)
	}
}

// completeAddress completes HOST:PORT with the loopback for a missing host.
func (r *resolver) completeAddress(key string, text *string) {
	address, ok := ListenAddress(*text)
	if !ok {
		r.fail("%s %s: want HOST:PORT, or a port", r.spell(key), *text)
		return
	}
	*text = address
}

// ListenAddress completes HOST:PORT, :PORT or PORT with the loopback for a missing host; false if it is none of them.
func ListenAddress(given string) (address string, ok bool) {
	if !strings.Contains(given, ":") {
		given = ":" + given
	}
	host, port, err := net.SplitHostPort(given)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		return "", false
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), true
}
