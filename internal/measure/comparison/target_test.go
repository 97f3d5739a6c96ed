package comparison

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTarget: a target is described by what is known of it.
func TestTarget(t *testing.T) {
	for want, one := range map[string]Target{
		"m at http://a": {URL: "http://a", Model: "m"},
		"http://a":      {URL: "http://a"},
		"old":           {Label: "old"},
		"old (m)":       {Label: "old", Model: "m"},
		"m, answers as m-fp8, at http://a, vllm 0.9.1":       {URL: "http://a", Model: "m", Answered: "m-fp8", Server: "vllm 0.9.1"},
		"old (m, answers as m-fp8, at http://a, vllm 0.9.1)": {Label: "old", URL: "http://a", Model: "m", Answered: "m-fp8", Server: "vllm 0.9.1"},
	} {
		if got := one.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestServerOfARun: the name and version of a server come from its own metrics, not from those of other exporters or of the language's runtime.
func TestServerOfARun(t *testing.T) {
	for name, c := range map[string]struct{ metrics, want string }{
		"build":     {`{"vllm:build_info":{"series":[{"endpoint_url":"http://h:8000/metrics","labels":{"version":"0.9.1"}}]}}`, "vllm 0.9.1"},
		"runtime":   {`{"python_info":{"series":[{"endpoint_url":"http://h:8000/metrics","labels":{"version":"3.12"}}]}}`, ""},
		"elsewhere": {`{"dcgm_info":{"series":[{"endpoint_url":"http://gpu:9400/metrics","labels":{"version":"4"}}]}}`, ""},
		"no label":  {`{"sglang_info":{"series":[{"endpoint_url":"http://h:8000/metrics","labels":{}}]}}`, ""},
		"several":   {`{"a_version_info":{"series":[{"endpoint_url":"http://h:8000/metrics","labels":{"version":"1"}},{"endpoint_url":"http://h:8000/metrics","labels":{"version":"2"}}]}}`, "a 1, a 2"},
	} {
		r := Run{Path: t.TempDir()}
		if err := os.WriteFile(filepath.Join(r.Path, serverMetricsFile), []byte(`{"metrics":`+c.metrics+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if r.readServer([]string{"h:8000"}); r.Target.Server != c.want {
			t.Errorf("%s: %q, want %q", name, r.Target.Server, c.want)
		}
	}
	none := Run{Path: t.TempDir()}
	if none.readServer([]string{"h:8000"}); none.Target.Server != "" {
		t.Error(none.Target.Server)
	}
}

// TestTooShort: only what is lacking is said.
func TestTooShort(t *testing.T) {
	for want, c := range map[string]struct {
		n       int
		seconds float64
		one     bool
	}{
		"1 request in 0.52 s; at least 100 requests and 10 s are needed": {1, 0.52, true},
		"40 requests; at least 100 are needed":                           {40, 30, true},
		"3 s long; a single run needs at least 10 s":                     {148, 3, true},
		"5 requests; at least 20 are needed":                             {5, 3, false},
	} {
		if got := tooShort(c.n, c.seconds, c.one); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
