package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/redact"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Validate checks the run and changes nothing. All violations are reported, one a line, each with the path of its key.
func (r *Run) Validate() error {
	v := &violations{}
	v.when(r.SchemaVersion != SchemaVersion, "schemaVersion", "must be \"%s\", not %q", SchemaVersion, r.SchemaVersion)
	if r.Tables != "" {
		v.oneOf("tables", string(r.Tables), string(TablesMain), string(TablesAll))
	}
	v.endpoint(&r.Benchmark)
	v.dataset(&r.Benchmark)
	v.phases(&r.Benchmark)
	v.repetition(r)
	if len(v.list) == 0 {
		return nil
	}
	return errors.New(strings.Join(v.list, "\n"))
}

// violations collects what is wrong.
type violations struct{ list []string }

func (v *violations) when(wrong bool, path, format string, a ...any) {
	if wrong {
		v.list = append(v.list, path+" "+fmt.Sprintf(format, a...))
	}
}

func (v *violations) endpoint(b *Benchmark) {
	v.when(len(b.Models.Items) == 0, "benchmark.models", "names no model")
	for i, m := range b.Models.Items {
		v.when(m.Name == "", fmt.Sprintf("benchmark.models.items[%d].name", i), "is empty")
	}
	v.weights(&b.Models)
	e := &b.Endpoint
	v.when(len(e.URLs) == 0, "benchmark.endpoint.urls", "is empty")
	for i, u := range e.URLs {
		scheme, host, ok := strings.Cut(u, "://")
		scheme = strings.ToLower(scheme)
		path := fmt.Sprintf("benchmark.endpoint.urls[%d]", i)
		v.when(!ok || scheme != "http" && scheme != "https" && scheme != "mock", path, "%q is not an http or https URL", redact.URL(u))
		v.when(ok && host == "" && scheme != "mock", path, "names no host")
	}
	v.when(e.Path != nil && strings.Contains(*e.Path, Redacted), "benchmark.endpoint.path", "is masked; give the path with --endpoint")
	v.when(e.APIKey == Redacted, "benchmark.endpoint.api_key", "is masked; give the key with --api-key")
	for _, h := range e.Headers {
		v.when(h.Value == Redacted, "benchmark.endpoint.headers."+h.Name, "is masked; give the header with --header")
	}
	v.when(!(e.Timeout >= 0), "benchmark.endpoint.timeout", "must be >= 0")
	v.oneOf("benchmark.endpoint.connection_reuse", string(e.ConnectionReuse), "pooled", "never", "sticky-user-sessions")
	v.oneOf("benchmark.endpoint.url_strategy", e.URLStrategy, "round_robin")
	v.when(e.Transport != "" && e.Transport != "http", "benchmark.endpoint.transport", "%q is not http", e.Transport)
	v.oneOf("benchmark.models.strategy", string(b.Models.Strategy), "round_robin", "random", "weighted")
	v.oneOf("benchmark.runtime.ui", string(b.Runtime.UI), "dashboard", "simple", "none")
	v.oneOf("benchmark.logging.level", b.Logging.Level, "TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL")
	v.when(b.Artifacts.SliceDuration != nil && !(*b.Artifacts.SliceDuration > 0), "benchmark.artifacts.slice_duration", "must be > 0")
}

// weights checks the shares of models that are chosen by weight.
func (v *violations) weights(m *Models) {
	if m.Strategy != ModelWeighted {
		return
	}
	sum := 0.0
	for i := range m.Items {
		w := value(m.Items[i].Weight)
		v.when(m.Items[i].Weight == nil || !(w >= 0 && w <= 1), fmt.Sprintf("benchmark.models.items[%d].weight", i), "must be a share from 0 to 1")
		sum += w
	}
	v.when(!(sum > 0.99 && sum < 1.01), "benchmark.models", "have weights that sum to %g, not 1", sum)
}

func (v *violations) oneOf(path, value string, allowed ...string) {
	for _, a := range allowed {
		if a == value {
			return
		}
	}
	v.when(true, path, "%q is not one of %s", value, strings.Join(allowed, ", "))
}

func (v *violations) repetition(r *Run) {
	m := &r.MultiRun
	v.when(m.NumRuns < 1 || m.NumRuns > 10, "multi_run.num_runs", "must be 1 to 10, not %d", m.NumRuns)
	v.when(!(m.Cooldown >= 0 && m.Cooldown <= 86400), "multi_run.cooldown_seconds", "must be 0 to 86400, a day")
	v.when(!(m.ConfidenceLevel > 0 && m.ConfidenceLevel < 1), "multi_run.confidence_level", "must be between 0 and 1")
	s := r.Sweep
	if s == nil {
		return
	}
	v.oneOf("sweep.type", string(s.Type), "grid", "zip")
	v.oneOf("sweep.iteration_order", s.IterationOrder, "repeated", "independent")
	v.when(len(s.Parameters) == 0, "sweep.parameters", "is empty")
	for _, a := range s.Parameters {
		v.when(len(a.Values) == 0, "sweep.parameters."+a.Path, "has no values")
		v.when(s.Type == SweepZip && len(a.Values) != len(s.Parameters[0].Values), "sweep.parameters."+a.Path,
			"has %d values, %s has %d: zip pairs lists of one length", len(a.Values), s.Parameters[0].Path, len(s.Parameters[0].Values))
	}
	if len(v.list) == 0 {
		if _, err := r.Cells(); err != nil {
			v.list = append(v.list, err.Error())
		}
	}
}
