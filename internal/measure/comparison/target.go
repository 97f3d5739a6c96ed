package comparison

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/terminal"
)

// serverMetricsFile is the export of a run's server metrics.
const serverMetricsFile = "server_metrics_export.json"

// Target is what a run measured.
type Target struct {
	Label    string // by the user; "" = none
	URL      string
	Model    string // that was requested
	Answered string // model that the server named in an answer, if it is another one
	Server   string // program of the server with its version, by its metrics; "" = they do not contain one
}

// String describes the target: "old (m, answers as m-fp8, at http://host:8000, vllm 0.9.1)".
func (t Target) String() string {
	text := t.Model
	if t.Answered != "" {
		text = strings.TrimPrefix(text+", answers as "+t.Answered+",", ", ")
	}
	switch {
	case text == "":
		text = t.URL
	case t.URL != "":
		text += " at " + t.URL
	}
	if t.Server != "" {
		text += ", " + t.Server
	}
	if t.Label != "" && text != "" {
		return t.Label + " (" + text + ")"
	}
	return t.Label + text
}

// largestServerMetrics is the largest export of server metrics that is read for the name of a server, in bytes.
const largestServerMetrics = 16 << 20

// readServer reads which program the server is from the metrics that the run recorded. Without an export that can be read, it stays unknown.
func (r *Run) readServer(urls []string) {
	text, err := boundedfile.ReadAll(filepath.Join(r.Path, serverMetricsFile), largestServerMetrics)
	if err != nil {
		return
	}
	var export struct {
		Metrics map[string]struct {
			Series []struct {
				URL    string            `json:"endpoint_url"`
				Labels map[string]string `json:"labels"`
			} `json:"series"`
		} `json:"metrics"`
	}
	if json.Unmarshal(text, &export) != nil {
		return
	}
	var found []string
	for name, m := range export.Metrics {
		program, ok := serverProgram(name)
		for _, s := range m.Series {
			if version := s.Labels["version"]; ok && version != "" && sameHost(s.URL, urls) {
				if one := terminal.Line(program + " " + version); !slices.Contains(found, one) {
					found = append(found, one)
				}
			}
		}
	}
	slices.Sort(found)
	r.Target.Server = strings.Join(found, ", ")
}

// setTarget stores what the run measured. answered is the model that the server named in an answer; "" = it named none.
func (r *Run) setTarget(urls []string, model, answered string) {
	r.Target.URL, r.Target.Model = strings.Join(urls, ", "), model
	if answered != model {
		r.Target.Answered = answered
	}
	r.readServer(urls)
}

// runtimes are the names of metrics with a version that is not that of a server.
var runtimes = []string{"python", "go", "process", "target", "otel_scope"}

// serverProgram returns the name of the program that a metric with constant labels describes: "vllm" of vllm:build_info. Metrics of a language's runtime
// describe no server.
func serverProgram(metric string) (name string, ok bool) {
	for _, suffix := range []string{"build_info", "version_info", "info"} {
		if name, ok = strings.CutSuffix(metric, suffix); ok {
			name = strings.TrimRight(name, "_:")
			return name, name != "" && !slices.Contains(runtimes, name)
		}
	}
	return "", false
}

// sameHost reports whether an address has the host and port of one of the URLs.
func sameHost(address string, urls []string) bool {
	a, err := url.Parse(address)
	return err == nil && slices.ContainsFunc(urls, func(one string) bool {
		if !strings.Contains(one, "://") {
			one = "http://" + one
		}
		b, err := url.Parse(one)
		return err == nil && a.Host == b.Host
	})
}
