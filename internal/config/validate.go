package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"aiperf/internal/base/redact"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Violation is one error in a run.
type Violation struct {
	Key  string // path of the value in a file
	Text string // a sentence that begins with the user's spelling of the setting
}

// Validate checks the run without changing it. The error lists all violations, one per line.
func (r *Run) Validate() error {
	var lines []string
	for _, one := range r.Violations() {
		lines = append(lines, one.Text)
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Violations returns all errors in the run: values outside the bounds of their rows, and values that conflict. Run.Spelling names the settings.
func (r *Run) Violations() []Violation {
	v := &violations{spell: r.Spelling, refused: map[string]bool{}}
	v.addIf(r.SchemaVersion != SchemaVersion, "schemaVersion", "must be \"%s\", not %q", SchemaVersion, r.SchemaVersion)
	v.addIf(!r.Plot.IsZero() && step(&r.Plot, "visualization") == nil, "plot.visualization", "is missing")
	v.rows(r)
	v.endpoint(&r.Benchmark)
	v.dataset(&r.Benchmark)
	v.phases(&r.Benchmark)
	v.telemetry(&r.Benchmark)
	v.repetition(r)
	v.machines(r)
	return v.list
}

// violations collects errors.
type violations struct {
	list    []Violation
	spell   func(key string) string
	refused map[string]bool // paths of values that are refused whatever the other settings are; later errors at these paths are ignored
}

// spelling returns the user's spelling of a setting, or its path if Spelling is nil.
func (v *violations) spelling(path string) string {
	if v.spell == nil {
		return path
	}
	return v.spell(path)
}

func (v *violations) addIf(wrong bool, path, format string, a ...any) {
	if wrong && !v.refused[path] {
		v.list = append(v.list, Violation{path, v.spelling(path) + " " + fmt.Sprintf(format, a...)})
	}
}

// files checks the output files, including user files.
func (v *violations) files(b *Benchmark) {
	for _, f := range b.Artifacts.Summary {
		v.oneOf("benchmark.artifacts.summary", f, "json", "csv")
	}
	for _, f := range b.Artifacts.Records {
		v.oneOf("benchmark.artifacts.records", f, "jsonl")
	}
	for i := range b.Artifacts.UserFiles {
		if key, err := b.Artifacts.UserFiles[i].fault(); err != nil {
			v.addIf(true, fmt.Sprintf("benchmark.artifacts.user_files[%d]%s", i, key), "%v", err)
		}
	}
}

func (v *violations) endpoint(b *Benchmark) {
	v.files(b)
	v.addIf(len(b.Models.Items) == 0, "benchmark.models", "names no model")
	for i, m := range b.Models.Items {
		v.addIf(m.Name == "", fmt.Sprintf("benchmark.models.items[%d].name", i), "is empty")
	}
	v.weights(&b.Models)
	e := &b.Endpoint
	v.addIf(len(e.URLs) == 0, "benchmark.endpoint.urls", "is empty")
	for i, u := range e.URLs {
		scheme, host, ok := strings.Cut(u, "://")
		scheme = strings.ToLower(scheme)
		path := fmt.Sprintf("benchmark.endpoint.urls[%d]", i)
		known := slices.Contains([]string{"http", "https", "grpc", "grpcs", "unix", "mock"}, scheme)
		v.addIf(!ok || !known, path, "%q is not an http, https or unix URL, nor one of gRPC", redact.URL(u))
		v.addIf(ok && host == "" && scheme != "mock", path, "names no host")
		v.addIf(scheme == "mock" && (e.HTTPVersion == HTTP2 || e.Socket != "" || e.Proxy != ""), path, "%q is a simulated server, which speaks HTTP/1.1 over TCP alone; it goes without %s",
			u, strings.Join(v.connection(e), ", "))
	}
	v.addIf((e.TLS.CertFile == "") != (e.TLS.KeyFile == ""), "benchmark.endpoint.tls.cert_file", "and %s must be given together", v.spelling("benchmark.endpoint.tls.key_file"))
	for i, a := range e.LocalAddresses {
		path := fmt.Sprintf("benchmark.endpoint.local_addresses[%d]", i)
		_, err := netip.ParseAddr(a)
		v.addIf(err != nil, path, "%q is not an IP address", a)
		v.addIf(slices.Contains(e.LocalAddresses[:i], a), path, "%q is listed twice", a)
	}
	v.addIf(e.Socket != "" && len(e.LocalAddresses) > 0, "benchmark.endpoint.local_addresses", "cannot be combined with %s", v.spelling("benchmark.endpoint.uds_path"))
	v.addIf(e.Socket != "" && e.Proxy != "", "benchmark.endpoint.proxy", "cannot be combined with %s", v.spelling("benchmark.endpoint.uds_path"))
	v.addIf(strings.Contains(e.Proxy, Redacted), "benchmark.endpoint.proxy", "is masked; give the URL with %s", FlagOf("endpoint.proxy"))
	v.addIf(e.Path != nil && strings.Contains(*e.Path, Redacted), "benchmark.endpoint.path", "is masked; give the path with %s", FlagOf("endpoint.path"))
	v.addIf(e.APIKey == Redacted, "benchmark.endpoint.api_key", "is masked; give the key with %s", FlagOf("endpoint.api_key"))
	if c := e.ResetKVCache; c != nil {
		v.hookPath("benchmark.endpoint.reset_kv_cache.path", c.Path)
		again := Value(c.MaxRetryBy)
		v.addIf(!(again >= 0) || again.Infinite(), "benchmark.endpoint.reset_kv_cache.max_retry_seconds", "must be >= 0 and finite, not %v", float64(again))
	}
	if c := e.ServerProfiler; c != nil {
		v.hookPath("benchmark.endpoint.server_profiler.start_path", c.StartPath)
		v.hookPath("benchmark.endpoint.server_profiler.stop_path", c.StopPath)
	}
	v.headerValue("benchmark.endpoint.api_key", e.APIKey)
	v.headerName("benchmark.endpoint.session_header", e.SessionHeader)
	v.headerValue("benchmark.endpoint.request_content_type", e.RequestContentType)
	for _, m := range e.Extra {
		v.addIf(strings.Contains(string(m.Value), Redacted), "benchmark.endpoint.extra."+m.Key, "is masked; give the value with %s", FlagOf("endpoint.extra"))
	}
	for _, h := range e.Headers {
		v.headerName("benchmark.endpoint.headers", h.Name)
		v.headerValue("benchmark.endpoint.headers."+h.Name, h.Value)
		v.addIf(h.Value == Redacted, "benchmark.endpoint.headers."+h.Name, "is masked; give the header with %s", FlagOf("endpoint.headers"))
	}
	v.oneOf("benchmark.runtime.ui", string(b.Runtime.UI), "dashboard", "simple", "none")
	v.oneOf("benchmark.logging.level", b.Logging.Level, "TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL")
}

// connection returns the settings of an endpoint that need another connection than HTTP/1.1 over TCP.
func (v *violations) connection(e *Endpoint) (names []string) {
	for key, given := range map[string]bool{"http_version": e.HTTPVersion == HTTP2, "uds_path": e.Socket != "", "proxy": e.Proxy != ""} {
		if given {
			names = append(names, v.spelling("benchmark.endpoint."+key))
		}
	}
	slices.Sort(names)
	return names
}

// hookPath rejects a value that is not a path on the servers of the run; empty means the default.
func (v *violations) hookPath(path, value string) {
	wrong := !strings.HasPrefix(value, "/") || strings.Contains(value, "://") || strings.ContainsFunc(value, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
	v.addIf(value != "" && wrong, path, "%q is not a path on the server: want /PATH, with its query if any, without a host or white space", value)
}

// headerName rejects an invalid header name: it must be a token (RFC 9110, section 5.6.2). Empty means no header.
func (v *violations) headerName(path, name string) {
	if c, bad := BadHeaderByte(name); bad {
		v.addIf(true, path, "%q is not a valid header name: it contains %q", name, c)
	}
}

// headerValue rejects a value with a line end. The message does not show the value.
func (v *violations) headerValue(path, value string) {
	if c, bad := BadValueByte(value); bad {
		v.addIf(true, path, "holds the control character %q", c)
	}
}

// BadHeaderByte returns the first byte that is not allowed in a header name.
func BadHeaderByte(name string) (c byte, bad bool) {
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return c, true
		}
	}
	return 0, false
}

// BadValueByte returns the first control character, which is not allowed in a header value.
func BadValueByte(value string) (c byte, bad bool) {
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return c, true
		}
	}
	return 0, false
}

// weights checks the shares of models that are chosen by weight.
func (v *violations) weights(m *Models) {
	if m.Strategy != ModelWeighted {
		return
	}
	sum := 0.0
	for i := range m.Items {
		w := Value(m.Items[i].Weight)
		v.addIf(m.Items[i].Weight == nil || !(w >= 0 && w <= 1), fmt.Sprintf("benchmark.models.items[%d].weight", i), "must be a share from 0 to 1")
		sum += w
	}
	v.addIf(!(sum > 0.99 && sum < 1.01), "benchmark.models", "have weights that sum to %g, not 1", sum)
}

func (v *violations) oneOf(path, value string, allowed ...string) {
	for _, a := range allowed {
		if a == value {
			return
		}
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(a string) bool { return a == "" }) // "" is the default
	v.addIf(true, path, "%q is not one of %s", value, strings.Join(named, ", "))
}
