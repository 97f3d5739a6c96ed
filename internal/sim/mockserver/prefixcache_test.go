package mockserver

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPrefixCache: the share of a prompt whose beginning came before is reported in usage and counters, and only there where it is asked for;
// /reset_prefix_cache empties the cache.
func TestPrefixCache(t *testing.T) {
	head, tail := strings.Repeat("alpha beta ", 64), strings.Repeat("gamma delta ", 64)
	body := func(prompt string, stream bool) string {
		return fmt.Sprintf(`{"stream":%t,"stream_options":{"include_usage":true},"prompt":%q}`, stream, prompt)
	}
	get := func(c *http.Client, url, body string) string {
		t.Helper()
		var resp *http.Response
		var err error
		if body == "" {
			resp, err = c.Get(url)
		} else {
			resp, err = c.Post(url, "application/json", strings.NewReader(body))
		}
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, knob := range []string{"on", "counters", "off"} {
		s, c := serve(t, "ttft=0&itl=0&tokens=2&count-prompt=false&prefix-cache="+knob)
		for i, step := range []struct {
			prompt string
			cached int // of 256 words; blocks are of 64 bytes
		}{{head + tail, 0}, {head + head + tail, 124}, {head + tail, 256}, {"x" + head + tail, 0}} {
			got := get(c, s.URL()+"/v1/completions", body(step.prompt, i%2 == 0))
			want := fmt.Sprintf(`"prompt_tokens_details":{"cached_tokens":%d}`, step.cached)
			if knob != "on" && strings.Contains(got, "cached_tokens") || knob == "on" && !strings.Contains(got, want) {
				t.Errorf("%s, prompt %d: want %s in %s", knob, i, want, got)
			}
		}
		page := get(c, s.URL()+"/metrics", "")
		if has := strings.Contains(page, "vllm:prefix_cache_queries_total{"); has != (knob != "off") {
			t.Errorf("%s: the page of metrics has counters: %t", knob, has)
		}
		get(c, s.URL()+"/reset_prefix_cache", "{}")
		if got := get(c, s.URL()+"/v1/completions", body(head+tail, false)); knob == "on" && !strings.Contains(got, `"cached_tokens":0`) {
			t.Errorf("after a reset: %s", got)
		}
	}
}
