package transport

import "testing"

// TestConformanceOfURLs: section 16.3 of the corpus, rows U01 to U13; U14 needs a whole run (package run).
func TestConformanceOfURLs(t *testing.T) {
	for id, c := range map[string]struct{ base, path, want string }{
		"U01": {"localhost:8000", "/v1/chat/completions", "http://localhost:8000/v1/chat/completions"},
		"U02": {"http://h/", "/v1/chat/completions", "http://h/v1/chat/completions"},
		"U03": {"http://h/v1/", "/v1/chat/completions", "http://h/v1/chat/completions"},
		"U04": {"http://h/v1/chat/completions", "/v1/chat/completions", "http://h/v1/chat/completions"},
		"U05": {"http://h/proxy", "/v1/chat/completions", "http://h/proxy/v1/chat/completions"},
		"U06": {"http://h/openai/v1?api-version=3", "/v1/chat/completions", "http://h/openai/v1/chat/completions?api-version=3"},
		"U07": {"http://h/v1", "/v2/chat", "http://h/v1/v2/chat"},
		"U08": {"http://h", "v2/chat", "http://h/v2/chat"},
		"U09": {"http://h/x", "", "http://h/x"},
		"U10": {"http://h", "/generate_stream", "http://h/generate_stream"},
		"U11": {"http://h/v1", "/v2/rerank", "http://h/v1/v2/rerank"},
		"U13": {"[::1]:8000", "/v1/x", "http://[::1]:8000/v1/x"},
	} {
		if got, err := JoinURL(c.base, c.path); err != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", id, got, err, c.want)
		}
	}
	for _, bad := range []string{"ftp://h", "ws:h", "http://", "http://h:0", "http://h:70000", "http://a b"} {
		if _, err := NewTarget(bad); err == nil {
			t.Errorf("U12: %s is taken", bad)
		}
	}
}
