package cli

import (
	"context"
	"io"
	"log"
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
		"ours":     {200, `{"data":[{"id":"tiny","owned_by":"aiperf"}]}`, "", "tiny", "builtin", []string{"note: simulated server"}},
		"ours too": {200, `{"data":[{"id":"tiny","owned_by":"aiperf"}]}`, "--tokenizer cl100k_base", "tiny", "cl100k_base", nil},
		"several":  {200, `{"data":[{"id":"org/one"},{"id":"two"}]}`, "", "", "", []string{"error: no model: http://", "serves 2 models; name one with --model:\n  org/one\n  two\n"}},
		"none":     {200, `{"data":[]}`, "", "", "", []string{"/v1/models lists none"}},
		"locked":   {401, ``, "", "", "", []string{"/v1/models: 401 Unauthorized; give the key of the server with --api-key"}},
		"wrong":    {403, ``, "--api-key k", "", "", []string{"403 Forbidden; the server refuses the key of --api-key"}},
		"no list":  {404, ``, "", "", "", []string{"v1/models: 404 Not Found; name the model with --model"}},
		"moved":    {301, ``, "", "", "", []string{"301 Moved Permanently: the redirect to /elsewhere is not followed; give the address that answers itself with --url"}},
		"dry":      {200, `{"data":[{"id":"one"}]}`, "--dry-run", "", "", []string{"a dry run sends nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if r.URL.Path != "/v1/models" || r.Method != http.MethodGet {
					t.Errorf("%s %s", r.Method, r.URL.Path)
				}
				if c.status == http.StatusMovedPermanently {
					w.Header().Set("Location", "/elsewhere")
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

// TestServedModelUnreachable: the cause comes first, with what to look at; nothing of the credentials in the URL is shown.
func TestServedModelUnreachable(t *testing.T) {
	t.Chdir(t.TempDir())
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	for name, c := range map[string]struct{ flags, said string }{
		"closed port":       {"--url http://me:geheim@127.0.0.1:1", "error: cannot reach http://<redacted>@127.0.0.1:1: connection refused; is the server running, and is --url right?\n"},
		"unknown name":      {"--url http://me:geheim@nobody.invalid:8000", "error: cannot reach http://<redacted>@nobody.invalid:8000: "},
		"unknown authority": {"--url " + secure.URL, "--tls-ca-file FILE names its authority, --tls-insecure skips the check\n"},
		"no TLS":            {"--url https" + strings.TrimPrefix(plain.URL, "http"), "it speaks http: write --url http://…\n"},
		"TLS":               {"--url http" + strings.TrimPrefix(secure.URL, "https"), "v1/models: 400 Bad Request; does the server speak https?"},
		"no CA file":        {"--url https://127.0.0.1:1 --tls-ca-file nosuch.pem", "error: --tls-ca-file: nosuch.pem does not exist"},
		"no certificate":    {"--url https://127.0.0.1:1 --tls-cert-file nosuch.pem --tls-key-file nosuch.pem", "error: --tls-cert-file: nosuch.pem does not exist"},
		"flag first":        {"--url http://127.0.0.1:1 --extra-inputs foo", `error: --extra-inputs: "foo" has no ":"`},
		"header first":      {"--url http://127.0.0.1:1 --header Accept", `error: --header: a colon is missing after "Accept"; write --header "Name: value"`},
		"rule first":        {"--url http://127.0.0.1:1 --concurrency 3 --request-rate 5 --fixed-schedule", "error: --request-rate cannot be combined with --fixed-schedule"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			p := &Program{Streams: Streams{Out: &out, Err: &errs}}
			status := Main(t.Context(), p, append([]string{"profile"}, strings.Fields(c.flags)...))
			if said := errs.String(); status != 1 || !strings.Contains(said, c.said) || strings.Contains(said, "geheim") {
				t.Errorf("exit status %d\n%s\nwant %s", status, said, c.said)
			}
			if strings.Contains(errs.String(), "no model") != (name == "TLS") || strings.Contains(c.flags, "127.0.0.1:1 --") && strings.Contains(errs.String(), "refused") {
				t.Errorf("more than the cause:\n%s", errs.String())
			}
		})
	}
}
