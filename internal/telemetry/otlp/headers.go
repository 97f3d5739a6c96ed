package otlp

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Headers holds the headers of every delivery, by signal.
type Headers struct{ Metrics, Traces map[string]string }

// Variables of the OTLP exporter specification: headers of all signals, and of one.
const (
	allHeaders    = "OTEL_EXPORTER_OTLP_HEADERS"
	metricHeaders = "OTEL_EXPORTER_OTLP_METRICS_HEADERS"
	traceHeaders  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
)

// HeadersOf reads the headers from the environment. The variable of a signal replaces that of all signals, as specified.
func HeadersOf(getenv func(string) string) Headers {
	of := func(name string) map[string]string {
		text := getenv(name)
		if text == "" {
			text = getenv(allHeaders)
		}
		return readHeaders(text)
	}
	return Headers{of(metricHeaders), of(traceHeaders)}
}

// readHeaders parses "name=value,name=value" with percent escapes in the values. Pairs without a name are ignored.
func readHeaders(text string) map[string]string {
	found := map[string]string{}
	for item := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		found[name] = value
	}
	return found
}

// Values returns the values of all headers.
func (h Headers) Values() []string {
	return slices.Concat(slices.Collect(maps.Values(h.Metrics)), slices.Collect(maps.Values(h.Traces)))
}
