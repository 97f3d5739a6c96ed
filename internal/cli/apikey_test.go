package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"aiperf/internal/cli/resolve"
)

// TestKeyOfEnvironment: a key of the environment goes to the host that it was made for, or where somebody asks for it.
func TestKeyOfEnvironment(t *testing.T) {
	environ := []string{"OPENAI_API_KEY=sk-ambient", "MINE=sk-mine"}
	for base, want := range map[string]string{
		"https://api.openai.com": "sk-ambient", "https://API.openai.com:443/v1": "sk-ambient", "http://api.openai.com": "", "https://api.openai.com.evil.example": "",
		"https://evil.example/api.openai.com": "", "https://api.openai.com@evil.example": "", "http://localhost:8000": "",
	} {
		if got := resolve.EnvironmentAPIKey(base, environ); got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
	for value, want := range map[string]string{"env:MINE": "sk-mine", "literal": "literal", "env:OPENAI_API_KEY": "sk-ambient"} {
		if got, err := resolve.APIKey(value, environ); err != nil || got != want {
			t.Errorf("%s: %q %v", value, got, err)
		}
	}
	if _, err := resolve.APIKey("env:NONE", environ); err == nil || !strings.Contains(err.Error(), "export NONE=KEY") {
		t.Errorf("no such variable: %v", err)
	}
}

// TestChatSendsNoForeignKey: chat finds the model as profile does, and sends the key of the environment only when asked.
func TestChatSendsNoForeignKey(t *testing.T) {
	t.Chdir(t.TempDir())
	for flags, want := range map[string]string{"": "", "--api-key env:OPENAI_API_KEY": "Bearer sk-ambient", "--api-key sk-given": "Bearer sk-given"} {
		var seen []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, r.URL.Path+" "+r.Header.Get("Authorization"))
			if r.URL.Path == "/v1/models" {
				_, _ = w.Write([]byte(`{"data":[{"id":"org/one","owned_by":"aiperf"}]}`))
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n"))
		}))
		var out, errs strings.Builder
		p := &Program{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Environ: []string{"OPENAI_API_KEY=sk-ambient", "HF_HUB_OFFLINE=1"}}}
		status := Main(t.Context(), p, append([]string{"chat", "--url", server.URL, "--quick", "hello"}, strings.Fields(flags)...))
		server.Close()
		if status != 0 || !strings.Contains(errs.String(), "note: model: org/one") || strings.Contains(errs.String(), "sk-") {
			t.Errorf("%q: status %d\n%s\n%s", flags, status, out.String(), errs.String())
		}
		if len(seen) != 2 || strings.TrimSpace(strings.TrimPrefix(seen[0], "/v1/models")) != want || !strings.HasSuffix(seen[1], " "+want) {
			t.Errorf("%q: the server saw %q, want %q", flags, seen, want)
		}
	}
	var out, errs strings.Builder
	p := &Program{Streams: Streams{Out: &out, Err: &errs}}
	if status := Main(t.Context(), p, []string{"profile", "--url", "mock://", "--api-key", "env:NONE"}); status != 1 || !strings.Contains(errs.String(), "error: --api-key: the environment has no variable NONE") {
		t.Errorf("status %d\n%s", status, errs.String())
	}
}
