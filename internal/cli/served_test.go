package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"aiperf/internal/config"
)

// TestServedModel: without --model the server is asked, and only a single answer is taken.
func TestServedModel(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		status           int
		body             string
		flags            string
		model, tokenizer string // of the run; "" = refused
		said             []string
	}{
		"one":      {200, `{"data":[{"id":"org/one","owned_by":"vllm"}]}`, "", "org/one", "", []string{"note: model: org/one, the only one that http://"}},
		"ours":     {200, `{"data":[{"id":"tiny","owned_by":"aiperf"}]}`, "", "tiny", "builtin", []string{"note: a simulated server answers"}},
		"ours too": {200, `{"data":[{"id":"tiny","owned_by":"aiperf"}]}`, "--tokenizer cl100k_base", "tiny", "cl100k_base", nil},
		"several":  {200, `{"data":[{"id":"org/one"},{"id":"two"}]}`, "", "", "", []string{"error: no model: name one with --model", "serves 2:\n  org/one\n  two\n"}},
		"none":     {200, `{"data":[]}`, "", "", "", []string{"/v1/models lists none"}},
		"locked":   {401, ``, "", "", "", []string{"/v1/models was asked: 401 Unauthorized; --api-key gives"}},
		"wrong":    {403, ``, "--api-key k", "", "", []string{"403 Forbidden; it does not take the key"}},
		"no list":  {404, ``, "", "", "", []string{"404 Not Found"}},
		"dry":      {200, `{"data":[{"id":"one"}]}`, "--dry-run", "", "", []string{"a dry run sends nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if r.URL.Path != "/v1/models" || r.Method != http.MethodGet {
					t.Errorf("%s %s", r.Method, r.URL.Path)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			for _, path := range []string{"", "/v1", "/v1/chat/completions"} {
				var out, errs strings.Builder
				var got *config.Run
				p := &Program{
					Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline,
					Profile: func(_ context.Context, run *config.Run, _ Streams) int { got = run; return 0 },
				}
				status := Main(t.Context(), p, append([]string{"profile", "--url", server.URL + path}, strings.Fields(c.flags)...))
				switch {
				case (c.model == "") != (status == 1) || (got == nil) != (status == 1):
					t.Fatalf("exit status %d\n%s", status, errs.String())
				case got != nil && (got.Models.Names()[0] != c.model || got.Tokenizer.Name != c.tokenizer):
					t.Errorf("model %v, tokenizer %q", got.Models.Names(), got.Tokenizer.Name)
				}
				for _, s := range c.said {
					if !strings.Contains(errs.String(), s) {
						t.Errorf("no %q in\n%s", s, errs.String())
					}
				}
			}
			if want := map[bool]int{true: 0, false: 3}[name == "dry"]; asked != want {
				t.Errorf("asked %d times, want %d", asked, want)
			}
		})
	}
}

// TestServedModelUnreachable: a closed port is told with what to look at, and the key in the URL is not shown.
func TestServedModelUnreachable(t *testing.T) {
	var out, errs strings.Builder
	p := &Program{Streams: Streams{Out: &out, Err: &errs}}
	status := Main(t.Context(), p, []string{"profile", "--url", "http://me:geheim@127.0.0.1:1"})
	if status != 1 || !strings.Contains(errs.String(), "connection refused; is the server up") || strings.Contains(errs.String(), "geheim") {
		t.Errorf("exit status %d\n%s", status, errs.String())
	}
}
