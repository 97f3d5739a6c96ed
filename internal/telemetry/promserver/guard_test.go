package promserver

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// TestGuard: the token opens a server in four forms, some paths are open, and a name of another site is refused.
func TestGuard(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	open := func(path string) bool { return path == "/healthz" }
	local, wide := &AccessGuard{Token: "s3 cret&", Host: "127.0.0.1", Open: open}, &AccessGuard{Token: "s3 cret&", Host: "0.0.0.0", Open: open}
	for _, c := range []struct {
		name         string
		g            *AccessGuard
		url          string
		header, text string
		want         int
	}{
		{"no token", local, "http://127.0.0.1:9/api/run", "", "", 401}, {"open path", local, "http://127.0.0.1:9/healthz", "", "", 200},
		{"token in the URL", local, "http://localhost:9/api/run?token=s3+cret%26", "", "", 200}, {"wrong token", local, "http://localhost:9/api/run?token=s3", "", "", 401},
		{"empty token", local, "http://localhost:9/api/run?token=", "Authorization", "Bearer ", 401}, {"bearer", local, "http://[::1]:9/api/run", "Authorization", "bearer s3 cret&", 200},
		{"basic", local, "http://[::1]:9/api/run", "Authorization", "Basic s3 cret&", 401}, {"cookie", local, "http://127.0.0.1:9/api/run", "Cookie", "aiperf-9=" + local.cookie(), 200},
		{"cookie of another port", local, "http://127.0.0.1:9/api/run", "Cookie", "aiperf-8=" + local.cookie(), 401}, {"the token as cookie", local, "http://127.0.0.1:9/x", "Cookie", "aiperf-9=s3", 401},
		{"a name of another site", local, "http://evil.example:9/api/run", "Authorization", "Bearer s3 cret&", 403}, {"open path, another site", local, "http://evil.example:9/healthz", "", "", 403},
		{"no host", local, "http://x/healthz", "Host", "", 403}, {"forwarded port", local, "http://localhost:8000/api/run?token=s3+cret%26", "", "", 200},
		{"by another name with the token", wide, "http://box.example:9/api/run?token=s3+cret%26", "", "", 200}, {"by another name without", wide, "http://box.example:9/healthz", "", "", 403},
		{"an address of a pod", wide, "http://10.0.0.7:9/healthz", "", "", 200}, {"the machine", wide, "http://" + machine + ":9/healthz", "", "", 200},
		{"the machine, for itself alone", local, "http://" + machine + ".example:9/healthz", "", "", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, c.url, nil)
		if c.header != "" {
			r.Header.Set(c.header, c.text)
		}
		w := httptest.NewRecorder()
		c.g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("in")) })).ServeHTTP(w, r)
		if w.Code != c.want || (w.Body.String() == "in") != (c.want == 200) {
			t.Errorf("%s: %d %s, want %d", c.name, w.Code, w.Body, c.want)
		}
		if cookie := w.Header().Get("Set-Cookie"); (cookie != "") != (c.want == 200 && r.URL.Query().Has("token")) {
			t.Errorf("%s: cookie %q", c.name, cookie)
		}
	}
	none := &AccessGuard{Host: "127.0.0.1"}
	w := httptest.NewRecorder()
	none.Wrap(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/?token=", nil))
	if w.Code != 401 {
		t.Errorf("a guard without a token lets in: %d", w.Code)
	}
}
