// Package exposition parses pages of metrics in the Prometheus text format (version 0.0.4) and in OpenMetrics text (1.0). It is tolerant: an invalid
// line is skipped and counted. Formats: https://prometheus.io/docs/instrumenting/exposition_formats/ and
// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md.
package exposition

// Type is the type of a family.
type Type string

// The types. Untyped families of the text format are Unknown.
const (
	Gauge          Type = "gauge"
	Counter        Type = "counter"
	Histogram      Type = "histogram"
	Summary        Type = "summary"
	Unknown        Type = "unknown"
	Info           Type = "info"
	StateSet       Type = "stateset"
	GaugeHistogram Type = "gaugehistogram"
)

// types maps the words of TYPE lines.
var types = map[string]Type{
	"gauge": Gauge, "counter": Counter, "histogram": Histogram, "summary": Summary, "unknown": Unknown, "untyped": Unknown,
	"info": Info, "stateset": StateSet, "gaugehistogram": GaugeHistogram,
}

// suffixes lists the suffixes of a family's sample names by type.
var suffixes = map[Type][]string{
	Counter:        {"_total", "_created"},
	Histogram:      {"_bucket", "_count", "_sum", "_created"},
	Summary:        {"_count", "_sum", "_created"},
	Info:           {"_info"},
	GaugeHistogram: {"_bucket", "_gcount", "_gsum"},
}

// Label is one label of a sample.
type Label struct{ Name, Value string }

// Sample is one value.
type Sample struct {
	Name   string // including the suffix
	Labels []Label
	Value  float64
}

// Label returns the value of a label; "" if the sample does not have it.
func (s *Sample) Label(name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Family is a metric with all its samples, in the order of the page.
type Family struct {
	Name    string // from the TYPE line, or from the sample
	Type    Type
	Help    string
	Samples []Sample
}

// Page is a parsed page.
type Page struct {
	Families []*Family
	Samples  int
	// BadLines is the number of invalid lines; First is the first of them.
	BadLines int
	First    BadLine
}

// BadLine is an invalid line.
type BadLine struct {
	Line int    // from 1
	Why  string // what was expected
}

// IsText reports whether the page contains metrics: it has a sample, or no invalid line.
func (p *Page) IsText() bool { return p.Samples > 0 || p.BadLines == 0 }
