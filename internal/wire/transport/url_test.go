package transport

import "testing"

func TestJoinURL(t *testing.T) {
	const chat = "/v1/chat/completions"
	for _, c := range [][3]string{
		{"localhost:8000", chat, "http://localhost:8000/v1/chat/completions"},
		{"http://h/", chat, "http://h/v1/chat/completions"},
		{"http://h/v1", chat, "http://h/v1/chat/completions"},
		{"http://h/v1/", chat, "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions", chat, "http://h/v1/chat/completions"},
		{"http://h/proxy", chat, "http://h/proxy/v1/chat/completions"},
		{"http://h/openai/v1?api-version=3", chat, "http://h/openai/v1/chat/completions?api-version=3"},
		{"http://h/v1", "/v2/chat", "http://h/v1/v2/chat"},
		{"http://h", "v2/chat", "http://h/v2/chat"},
		{"http://h/x", "", "http://h/x"},
		{"http://h", "/generate_stream", "http://h/generate_stream"},
		{"http://h/v1", "/v2/rerank", "http://h/v1/v2/rerank"},
		{"[::1]:8000", chat, "http://[::1]:8000/v1/chat/completions"},
		{"http://h/a#f", chat, "http://h/a/v1/chat/completions"},
		{"http://h?x=1#f", chat, "http://h/v1/chat/completions?x=1"},
		{"https://H:1/v1", chat, "https://H:1/v1/chat/completions"},
		{"http://h/v1", "/v1", "http://h/v1"},
	} {
		if got, err := JoinURL(c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("JoinURL(%q, %q) = %q, %v, want %q", c[0], c[1], got, err, c[2])
		}
	}
	if got, _ := JoinURL("http://h?a=1&b=2", "p", [2]string{"a", "x y"}, [2]string{"c", "3"}); got != "http://h/p?b=2&a=x+y&c=3" {
		t.Errorf("parameters: %q", got)
	}
}

func TestBadURLs(t *testing.T) {
	for _, u := range []string{"", "ftp://h", "ws:h", "http://", "http://h:0", "http://h:70000", "http://a b", " http://h", "http://h ",
		"http://h:", "::1:8000", "http://:80", "mailto:a@b", "http://[::1"} {
		if full, err := NormalizeURL(u); err == nil {
			t.Errorf("%q accepted as %q", u, full)
		}
	}
}

func TestTarget(t *testing.T) {
	for raw, want := range map[string]Target{
		"http://h":                  {URL: "http://h", Host: "h", Port: 80, Path: "/", host: "h"},
		"https://h:443/a%20b?q=1#f": {URL: "https://h:443/a%20b?q=1", Host: "h", Port: 443, Path: "/a%20b?q=1", TLS: true, host: "h"},
		"http://[::1]:81/x":         {URL: "http://[::1]:81/x", Host: "::1", Port: 81, Path: "/x", host: "[::1]:81"},
	} {
		got, err := NewTarget(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got.URL != want.URL || got.Host != want.Host || got.Port != want.Port || got.Path != want.Path || got.TLS != want.TLS || got.host != want.host {
			t.Errorf("%q: %+v, want %+v", raw, *got, want)
		}
	}
}
